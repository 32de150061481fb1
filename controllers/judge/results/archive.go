package results

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
)

// ArchiveName is the name of the archive of a step with that result, until it is stored. It is
// the same for the same run, step and result. Another result, as of a worker that was found
// again meanwhile, has another name. So has one of another number of workers, though they may
// have measured the same.
func ArchiveName(lt *v1beta1.LoadTest, i int, result *v1beta1.StepResult, report *exchange.Report) (string, error) {
	raw, err := json.Marshal(result)
	if err != nil {
		return "", fmt.Errorf("name the results of step %d: %w", i, err)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %d %d %d %s", archive.Format, lt.UID, i, report.Reporting, report.Series.Workers(), raw))
	return archiveName(lt, i, sum), nil
}

// StoredName is the name of the ConfigMap that has the archive of step i, which follows from its
// content: an operator that carries on where another ended comes to the same one, stores nothing
// twice, and need not read what is there. Nobody can know it before the operator creates it.
func StoredName(lt *v1beta1.LoadTest, i int, packed []byte) string {
	return archiveName(lt, i, sha256.Sum256(packed))
}

func archiveName(lt *v1beta1.LoadTest, i int, sum [sha256.Size]byte) string {
	const longest = 200 // of 253
	name := strings.TrimRight(lt.Name[:min(len(lt.Name), longest)], ".-")
	return fmt.Sprintf("%s-%d-%s", name, i, hex.EncodeToString(sum[:8]))
}

// Archive is the archive of step i of a run, of which all has been reported. usage is what the
// target's pods used in it.
func Archive(lt *v1beta1.LoadTest, i int, report *exchange.Report, usage []archive.Usage) ([]byte, error) {
	step := archive.Step{
		LoadTest: lt.Name, UID: string(lt.UID), Name: lt.Status.Steps[i].Name, Index: i,
		WorkersReporting: report.Reporting, Due: report.Merged.Due, Usage: usage,
	}
	for n := range report.Merged.Requests {
		request, err := archiveRequest(&lt.Status.Requests[n], report.Merged, n)
		if err != nil {
			return nil, fmt.Errorf("step %s: %w", step.Name, err)
		}
		step.Requests = append(step.Requests, request)
		step.Sent += report.Merged.Requests[n].Sent
	}
	if report.Merged.Grouped != nil {
		step.Omitted = []string{archive.OmittedLost}
	}
	if err := archiveExpected(&step, report.Merged); err != nil {
		return nil, err
	}
	if workers := report.Series.Workers(); workers > 0 {
		width := measure.PointWidth(windowOf(&lt.Status.Steps[i].Load))
		step.Series = archive.NewSeries(report.Series.Series(), width, workers)
	}
	step.Outstanding = archive.NewOutstanding(report.Merged.Timeline, windowOf(&lt.Status.Steps[i].Load)/measure.TimelineSlots)
	return archive.Encode(step)
}

func archiveRequest(of *v1beta1.RequestStatus, merged *measure.Measurement, n int) (archive.Request, error) {
	measured, err := merged.Alone(n)
	if err != nil {
		return archive.Request{}, err
	}
	r := archive.Request{Name: of.Name, Type: of.Type, Traces: archive.NewTraces(measured.Traces), Counts: archive.NewCounts(&measured, merged.Due > 0 && merged.KnowsDue())}
	if r.Response, err = archive.NewHistogram(measured.Response); err != nil {
		return r, err
	}
	if !measured.Ideally().Equal(measured.Response) {
		if r.WithoutGenerator, err = archive.NewHistogram(measured.Ideal); err != nil {
			return r, err
		}
	}
	if r.Streams, err = archive.NewStreams(measured.Streams); err != nil {
		return r, err
	}
	r.Service, err = archive.NewHistogram(measured.Service)
	return r, err
}

func archiveExpected(step *archive.Step, merged *measure.Measurement) error {
	total, err := merged.Total()
	if err != nil {
		return fmt.Errorf("step %s: %w", step.Name, err)
	}
	if total.Response.Count() == total.Successes() {
		return nil
	}
	if response, _, ok := total.ExpectedTimes(); ok {
		step.Expected, err = archive.NewHistogram(response)
	}
	return err
}

// windowOf is how long the window of a step is at most: the coordinator and the workers
// have it from the same plan.
func windowOf(l *v1beta1.StepLoad) time.Duration {
	return v1beta1.OrZero(l.Duration) + v1beta1.OrZero(l.MaxDuration) // it has one of them
}
