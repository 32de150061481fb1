package report

import (
	"fmt"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// JourneyHeads are the heads of what Journeys returns, behind the step's.
var JourneyHeads = []string{"journey", "due", "started", "completed", "failed", "unfinished", "failed in", "left out", "p50", "p95", "p99", "longest"}

// Journeys has a row for each journey of a step, and one for the sessions of single requests.
func Journeys(r *v1beta1.StepResult) [][]string {
	var rows [][]string
	var single v1beta1.SessionsResult
	if r.Sessions != nil {
		single = *r.Sessions
	}
	for i := range r.Journeys {
		j := &r.Journeys[i]
		t := j.Time
		if t == nil {
			t = &v1beta1.Latency{}
		}
		rows = append(rows, []string{
			j.Name, fmt.Sprint(max(j.Due, j.Started)), fmt.Sprint(j.Started), fmt.Sprint(j.Completed), fmt.Sprint(j.Failed), fmt.Sprint(j.Unfinished), failedIn(j), leftOut(j),
			Brief(t.P50), Brief(t.P95), Brief(t.P99), Brief(t.Longest),
		})
		single.Due, single.Started = single.Due-j.Due, single.Started-j.Started
	}
	if r.Sessions != nil && single.Due > 0 {
		row := make([]string, len(JourneyHeads))
		row[0], row[1], row[2] = "(single requests)", fmt.Sprint(single.Due), fmt.Sprint(single.Started)
		rows = append(rows, row)
	}
	return rows
}

// leftOut is which steps conditions left out, and how often: 6 of step 4, lounge. Empty: none.
func leftOut(j *v1beta1.JourneyResult) string {
	parts := make([]string, len(j.LeftOut))
	for i, o := range j.LeftOut {
		parts[i] = fmt.Sprintf("%d of step %d", o.Times, o.Step)
		if o.Request != "" {
			parts[i] += ", " + o.Request
		}
	}
	return strings.Join(parts, "; ")
}

func ofJourney(j *v1beta1.JourneyResult) string {
	started := fmt.Sprint(j.Started)
	if j.Due > j.Started {
		started = fmt.Sprintf("%d of %d due", j.Started, j.Due)
	}
	said := fmt.Sprintf("%s %s started, %d completed%s, %d failed", j.Name, started, j.Completed, share(j.Completed, j.Completed+j.Failed), j.Failed)
	if in := failedIn(j); in != "" {
		said += " (" + in + ")"
	}
	for _, o := range j.LeftOut {
		said += fmt.Sprintf(", step %d%s left out %s", o.Step, named(o.Request), text.Plural(o.Times, "time"))
	}
	if j.Unfinished > 0 {
		said += fmt.Sprintf(", %d unfinished", j.Unfinished)
	}
	if j.Time != nil && j.Time.P95 != nil {
		said += ", p95 " + text.Short(j.Time.P95.Duration)
	}
	return said
}

// named is the request of a step, after its number.
func named(request string) string {
	if request == "" {
		return ""
	}
	return ", " + request + ","
}

// failedIn is where journeys failed: 8 in step 3, pay; 2 in step 5, thanks; and which of them ended by a
// condition. Empty: none did.
func failedIn(j *v1beta1.JourneyResult) string {
	parts := make([]string, len(j.FailedIn))
	for i, f := range j.FailedIn {
		parts[i] = fmt.Sprintf("%d in step %d", f.Failed, f.Step)
		if f.Request != "" {
			parts[i] += ", " + f.Request
		}
		if f.ByCondition > 0 {
			parts[i] += fmt.Sprintf(": %d by a condition, such as: %s", f.ByCondition, f.Because)
		}
	}
	return strings.Join(parts, "; ")
}
