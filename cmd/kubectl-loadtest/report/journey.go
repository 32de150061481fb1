package report

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// JourneyHeads are the heads of what Journeys returns, behind the step's.
var JourneyHeads = []string{"journey", "started", "completed", "failed", "unfinished", "p50", "p95", "p99", "longest"}

// Journeys has a row for each journey of a step.
func Journeys(r *v1beta1.StepResult) [][]string {
	var rows [][]string
	for i := range r.Journeys {
		j := &r.Journeys[i]
		t := j.Time
		if t == nil {
			t = &v1beta1.Latency{}
		}
		rows = append(rows, []string{
			j.Name, fmt.Sprint(j.Started), fmt.Sprint(j.Completed), fmt.Sprint(j.Failed), fmt.Sprint(j.Unfinished),
			Brief(t.P50), Brief(t.P95), Brief(t.P99), Brief(t.Longest),
		})
	}
	return rows
}

func ofJourney(j *v1beta1.JourneyResult) string {
	said := fmt.Sprintf("%s %d started, %d completed%s, %d failed", j.Name, j.Started, j.Completed, share(j.Completed, j.Completed+j.Failed), j.Failed)
	if j.Unfinished > 0 {
		said += fmt.Sprintf(", %d unfinished", j.Unfinished)
	}
	if j.Time != nil && j.Time.P95 != nil {
		said += ", p95 " + text.Short(j.Time.P95.Duration)
	}
	return said
}
