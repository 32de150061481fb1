package vegeta

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// JSON is the report of one step as vegeta report -type=json writes it: of the step of
// that name or, for "", the only one that was measured. Bytes are left out, as the status
// has none.
func JSON(lt *v1beta1.LoadTest, step string) ([]byte, error) {
	m, err := metrics(lt, step)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := vegeta.NewJSONReporter(m).Report(&b); err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(b.Bytes(), &fields); err != nil {
		return nil, err
	}
	delete(fields, "bytes_in")
	delete(fields, "bytes_out")
	data, err := json.Marshal(fields)
	return append(data, '\n'), err
}

// Text is the report as vegeta report writes it, without the lines on bytes.
func Text(lt *v1beta1.LoadTest, step string) ([]byte, error) {
	m, err := metrics(lt, step)
	if err != nil {
		return nil, err
	}
	var all, kept bytes.Buffer
	if err := vegeta.NewTextReporter(m).Report(&all); err != nil {
		return nil, err
	}
	for line := range strings.Lines(all.String()) {
		if !strings.HasPrefix(line, "Bytes ") {
			kept.WriteString(line)
		}
	}
	return kept.Bytes(), nil
}

// metrics are those of a step.
func metrics(lt *v1beta1.LoadTest, name string) (*vegeta.Metrics, error) {
	step, err := report.Only(lt.Status.Steps, name, "a result", func(*v1beta1.StepResult) bool { return true })
	if err != nil {
		return nil, err
	}
	r := step.Result
	m := &vegeta.Metrics{
		Requests:    uint64(r.Sent),
		Latencies:   latencies(r),
		StatusCodes: statusCodes(&r.Counts),
		Errors:      []string{},
		Throughput:  report.Number(r.Goodput),
	}
	if step.StartTime != nil {
		m.Earliest = step.StartTime.Add(v1beta1.OrZero(step.Load.WarmUp))
	}
	m.Duration = v1beta1.OrZero(step.Window)
	m.Latest = m.Earliest.Add(m.Duration)
	m.End = m.Latest // of its requests in flight, the status has no end
	if seconds := m.Duration.Seconds(); seconds > 0 {
		m.Rate = float64(r.Sent) / seconds
	}
	if r.Sent > 0 {
		m.Success = float64(r.Outcomes.Success) / float64(r.Sent)
	}
	for i := range r.Requests {
		for _, sample := range r.Requests[i].ErrorSamples {
			m.Errors = append(m.Errors, sample.Message)
		}
	}
	return m, nil
}

// latencies are the service times. A quantile that the status leaves out, for want of
// samples, is the longest: of n samples that is the quantile q for n < 1/(1-q).
func latencies(r *v1beta1.StepResult) vegeta.LatencyMetrics {
	t := r.ServiceTime
	if t == nil {
		return vegeta.LatencyMetrics{}
	}
	longest := v1beta1.OrZero(t.Longest)
	or := func(d *metav1.Duration) time.Duration {
		if d == nil {
			return longest
		}
		return d.Duration
	}
	return vegeta.LatencyMetrics{
		Total: time.Duration(math.Round(float64(v1beta1.OrZero(t.Mean)) * float64(t.Samples))),
		Mean:  v1beta1.OrZero(t.Mean), Min: v1beta1.OrZero(t.Min), Max: longest,
		P50: or(t.P50), P90: or(t.P90), P95: or(t.P95), P99: or(t.P99),
	}
}

// statusCodes counts all that was sent: 0 has what has no status, and other what has one
// that is not among the codes of the status.
func statusCodes(c *v1beta1.Counts) map[string]int {
	codes, others := map[string]int{}, c.Completed
	for _, code := range c.StatusCodes {
		codes[measure.StatusName(int(code.Code))] = int(code.Count)
		others -= code.Count
	}
	if others > 0 {
		codes["other"] = int(others)
	}
	if none := c.Sent - c.Completed; none > 0 {
		codes["0"] = int(none)
	}
	return codes
}
