package requestlog

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// Encodings are vegeta's encodings of results, by the names that it has for them.
var Encodings = []string{"gob", "csv", "json"}

// Step is a step whose requests are written.
type Step struct {
	Index int32
	// Name is that of the attack.
	Name string
	// URL is scheme and host of the target, OtherURLs those of the other targets.
	URL       string
	OtherURLs []string
	// Sent is how many requests the run counted, from Start on.
	Sent  int64
	Start time.Time
}

// Write writes the requests of the logs of all workers as vegeta's results: each step is
// an attack of its name, whose results are in the order in which they were sent, and
// numbered from 0, as vegeta plot needs them. It returns how many were counted and are
// missing. Those of a step are in a record at its end.
func Write(w io.Writer, encoding string, steps []Step, logs ...io.Reader) (missing int64, err error) {
	out := bufio.NewWriter(w)
	encode := encoder(out, encoding)
	readers := make([]*reader, len(logs))
	for i, log := range logs {
		if readers[i], err = newReader(log); err != nil {
			return 0, err
		}
	}
	for _, s := range steps {
		records, err := collect(readers, s.Index)
		if err != nil {
			return missing, err
		}
		missing += max(0, s.Sent-int64(len(records)))
		if err := s.write(encode, records); err != nil {
			return missing, fmt.Errorf("write results: %w", err)
		}
	}
	return missing, out.Flush()
}

func encoder(w io.Writer, encoding string) vegeta.Encoder {
	switch encoding {
	case "csv":
		return vegeta.NewCSVEncoder(w)
	case "json":
		return vegeta.NewJSONEncoder(w)
	default:
		return vegeta.NewEncoder(w)
	}
}

// collect takes the records of a step, in the order in which they were sent.
func collect(readers []*reader, step int32) ([]raw, error) {
	var records []raw
	for _, r := range readers {
		for r.next != nil && r.next.step() <= step {
			if r.next.step() == step {
				records = append(records, r.next)
			}
			if err := r.advance(); err != nil {
				return nil, err
			}
		}
	}
	slices.SortStableFunc(records, func(a, b raw) int { return cmp.Compare(a.sent(), b.sent()) })
	return records, nil
}

// url is scheme and host of a target; empty, if it is not known.
func (s Step) url(target int) string {
	switch {
	case target == 0:
		return s.URL
	case target <= len(s.OtherURLs):
		return s.OtherURLs[target-1]
	}
	return ""
}

// write writes the results of a step.
func (s Step) write(encode vegeta.Encoder, records []raw) error {
	last := s.Start
	for n, raw := range records {
		r, err := raw.record()
		if err != nil {
			return err
		}
		last = r.Sent
		if err := encode(&vegeta.Result{
			Attack: s.Name, Seq: uint64(n), Code: uint16(r.Code), Timestamp: r.Sent, Latency: r.Latency,
			BytesIn: uint64(r.BytesIn), BytesOut: uint64(r.BytesOut), Error: r.Error, Method: r.Method, URL: s.url(r.Target) + string(r.Path),
		}); err != nil {
			return err
		}
	}
	if missing := s.Sent - int64(len(records)); missing > 0 {
		return encode(&vegeta.Result{
			Attack: s.Name, Seq: uint64(len(records)), Timestamp: last,
			Error: fmt.Sprintf("%d of %d requests are missing in these results: they were counted but not recorded", missing, s.Sent),
		})
	}
	return nil
}
