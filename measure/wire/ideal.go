package wire

import (
	"fmt"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// fromIdeal leaves ideal times out that are the measured ones: those of a worker that was
// never late are.
func (p *packing) fromIdeal(ideal, measured *measure.Histogram) *workerv1.Histogram {
	if ideal.Equal(measured) {
		return nil
	}
	return p.fromHistogram(ideal)
}

// readIdeal validates ideal times: there is one for each measured one, which are in the
// histogram of that index. Where they are absent, the measured ones stand for them.
func (r *Reading) readIdeal(field string, m *workerv1.Histogram, measured int) error {
	of := r.histograms[measured]
	if len(m.GetCounts()) == 0 && len(m.GetPacked()) == 0 {
		if m.GetClamped() != 0 {
			return fmt.Errorf("%s: %w", field, within("clamped", m.GetClamped(), "count", 0))
		}
		of.borrowed = true
		r.histograms = append(r.histograms, of)
		return nil
	}
	if err := r.readHistogram(field, m, of.total); err != nil {
		return err
	}
	if n := r.histograms[len(r.histograms)-1].total; n != of.total {
		return fmt.Errorf("%s: %d values, measured are %d", field, n, of.total)
	}
	return nil
}

// isOwn says whether a worker sent these ideal times.
func (h histogram) isOwn() bool { return !h.borrowed && !h.isEmpty() }
