package preview

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Threshold is a bound that will be judged, as a sentence.
type Threshold struct {
	Name string `json:"name"`
	Text string `json:"text"`
	// Default says that the LoadTest does not have it: it holds all the same.
	Default bool `json:"default,omitempty"`
}

// thresholds are those of the spec and then the defaults, as the status has them.
func thresholds(spec *v1beta1.LoadTestSpec, list []v1beta1.ThresholdStatus) []Threshold {
	all := make([]Threshold, len(list))
	other := "the baseline"
	if spec.Versus != nil {
		other = "the control"
	}
	for i, t := range list {
		all[i] = Threshold{Name: t.Name, Default: t.Default, Text: fmt.Sprintf("%s at most %s", t.Metric, t.Limit)}
		if t.Name != string(t.Metric) { // a default that is named apart is of the journeys
			all[i].Text += " of the journeys"
		}
		if i < len(spec.Thresholds) {
			all[i].Text = threshold(&spec.Thresholds[i], other)
		}
	}
	return all
}

func threshold(t *v1beta1.Threshold, other string) string {
	parts := []string{string(t.Metric)}
	if t.Query != "" {
		parts[0] = "query " + t.Query
	}
	if t.Within != nil {
		parts = append(parts, "within "+t.Within.Duration.String())
	}
	if t.HasGoal() {
		parts = append(parts, goal(t))
	}
	if t.Of == v1beta1.LatencyOfExpected {
		parts = append(parts, "of expected responses")
	}
	if t.Time == v1beta1.ServiceTime {
		parts = append(parts, "from when they were sent")
	}
	if of := report.TimeOfStreams(t.Time); of != "" {
		parts = append(parts, "of the "+of)
	}
	parts = append(parts, bounds(t, other)...)
	if names := slices.Concat(t.Requests, t.Types, t.Journeys); len(names) > 0 {
		parts = append(parts, "for "+strings.Join(names, ", "))
	}
	if len(t.Steps) > 0 {
		parts = append(parts, "in "+strings.Join(t.Steps, ", "))
	}
	if t.UpToUsers != nil {
		parts = append(parts, fmt.Sprintf("up to %d users", *t.UpToUsers))
	}
	switch t.OnBreach {
	case v1beta1.BreachStopLadder:
		parts = append(parts, "else the later steps are skipped")
	case v1beta1.BreachAbort:
		parts = append(parts, "else the run is aborted")
	}
	return strings.Join(parts, " ")
}

// goal is what a threshold asks of a stream.
func goal(t *v1beta1.Threshold) string {
	var list []string
	if t.FirstEvent != nil {
		list = append(list, "the first event within "+t.FirstEvent.Duration.String())
	}
	if t.MeanGap != nil {
		list = append(list, "a mean time between events within "+t.MeanGap.Duration.String())
	}
	return "with " + strings.Join(list, " and ")
}

// eventsOf are the words for the events of a stream.
var eventsOf = map[v1beta1.StreamEvents]string{
	v1beta1.StreamSSE: "server-sent events", v1beta1.StreamLines: "lines", v1beta1.StreamChunks: "chunks",
}

// streams are the requests whose responses are read as they come.
func streams(spec *v1beta1.LoadTestSpec) (list []string) {
	for i := range spec.Requests {
		r := &spec.Requests[i]
		switch {
		case r.WebSocket != nil:
			list = append(list, r.Name+": "+messages(r.WebSocket))
		case r.HTTP != nil && r.HTTP.Stream != nil:
			s := r.HTTP.Stream
			list = append(list, r.Name+": "+eventsOf[s.Events]+until(s.Until, s.Stall))
		}
	}
	return list
}

// messages says what is sent over a connection of WebSocket, and what is expected.
func messages(s *v1beta1.WebSocket) string {
	said, come := "", s.Messages
	if n := len(s.Send); n > 0 {
		said = fmt.Sprintf("%s sent", text.Plural(int64(n), "message"))
		if s.Every != nil {
			said += ", one every " + Time(s.Every.Duration)
		} else if n > 1 {
			said += ", each after one that came"
		}
		said += "; "
	}
	if come == 0 && s.Until == "" {
		come = int64(len(s.Send))
	}
	if come > 0 {
		said += text.Plural(come, "message")
	} else {
		said += "messages"
	}
	return said + " from the target" + until(s.Until, s.Stall)
}

// until is when a stream ends, and when it is given up.
func until(last string, stall *metav1.Duration) (said string) {
	if last != "" {
		said += fmt.Sprintf(", up to %q", last)
	}
	if stall != nil {
		said += ", given up after " + Time(stall.Duration) + " without one"
	}
	return said
}

// bounds are the limits of a threshold. other is what a relative one compares with.
func bounds(t *v1beta1.Threshold, other string) (list []string) {
	if t.Max != nil {
		list = append(list, "at most "+t.Max.String())
	}
	if t.Min != nil {
		list = append(list, "at least "+t.Min.String())
	}
	if t.MaxIncrease != "" {
		list = append(list, "at most "+t.MaxIncrease+" above "+other)
	}
	if t.MaxDecrease != "" {
		list = append(list, "at most "+t.MaxDecrease+" below "+other)
	}
	return list
}

// before is what happens between the acceptance of a run and its first step.
func before(spec *v1beta1.LoadTestSpec) (list []string) {
	if n := len(spec.Preflight); n > 0 {
		list = append(list, fmt.Sprintf("each worker asks the target %s of preflight", text.Plural(int64(n), "question")))
	}
	if s := spec.Setup; s != nil && s.Fill != nil {
		list = append(list, fmt.Sprintf("fill: %s is sent %s", s.Fill.Request, text.Plural(int64(s.Fill.Count), "time")))
	}
	if s := spec.Setup; s != nil && s.WarmUp != nil {
		list = append(list, fmt.Sprintf("warm-up: %s is sent for %s", s.WarmUp.Request, Time(s.WarmUp.Duration.Duration)))
	}
	return append(list, readings(spec)...)
}

// after is what happens between the last step and the verdict.
func after(spec *v1beta1.LoadTestSpec) []string { return readings(spec) }

func readings(spec *v1beta1.LoadTestSpec) (list []string) {
	for _, a := range spec.StoredAudits() {
		list = append(list, fmt.Sprintf("audit %s: one worker reads %s of %s", a.Name, a.Stored.Value, readBy(&a.Stored.Read)))
	}
	return list
}

// readBy is what an audit's number is read by: a path, or a method of gRPC.
func readBy(r *v1beta1.Reading) string {
	switch {
	case r.GRPC != nil:
		return r.GRPC.Method
	case r.HTTP != nil:
		return r.HTTP.Path
	}
	return ""
}

// notes are what a reader should know before the run.
func notes(lt *v1beta1.LoadTest, p *Preview) (list []string) {
	spec := &lt.Spec
	if spec.Suspend {
		list = append(list, "spec.suspend is true: the run begins when it is set to false, as kubectl loadtest run --resume does.")
	}
	if spec.Terminate {
		list = append(list, "spec.terminate is true: the run ends as Canceled before it begins.")
	}
	if b := spec.Baseline; b != nil {
		list = append(list, "spec.baseline: "+compared(b))
	}
	if seconds := spec.ActiveDeadlineSeconds; seconds != nil && time.Duration(*seconds)*time.Second < p.Duration.Duration {
		list = append(list, fmt.Sprintf("spec.activeDeadlineSeconds: %ds will pass before the steps end, which take %s.", *seconds, Time(p.Duration.Duration)))
	}
	if len(spec.Preflight) == 0 {
		list = append(list, "spec.preflight is empty: nothing verifies which version of the target is tested.")
	}
	return list
}

// compared says with what a run is compared, and when it is not.
func compared(b *v1beta1.Baseline) string {
	const differs = "its steps or its traffic differ"
	fails := "is refused if "
	if b.Optional {
		fails = "is compared with nothing if "
	}
	switch {
	case b.Schedule != "":
		return fmt.Sprintf("the run is compared with the level of schedule %s, and %sfewer than 3 of its LoadTests passed with these steps and this traffic.", b.Schedule, fails)
	case b.Selector != nil:
		return fmt.Sprintf("the run is compared with the last LoadTest that passed and has labels %s, and %sthere is none, or %s.", labels.Set(b.Labels()), fails, differs)
	case b.Optional:
		return fmt.Sprintf("the run begins once LoadTest %s has finished, and %sit does not exist, or %s.", b.Name, fails, differs)
	}
	return fmt.Sprintf("the run begins once LoadTest %s has finished, and %s%s.", b.Name, fails, differs)
}

// Time is a duration without zero units at its end: 1m, not 1m0s.
func Time(d time.Duration) string { return text.Whole(d.Round(time.Millisecond)) }
