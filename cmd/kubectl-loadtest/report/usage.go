package report

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// UsageHeads are the heads of the table of what the target's pods used.
var UsageHeads = []string{"step", "container", "pods", "restarts", "CPU, mean", "CPU, highest", "CPU limit", "memory, highest", "memory limit", "readings"}

// UsageNote says what its figures are of.
const UsageNote = "By the resource metrics API, which averages over some seconds and does not tell how often a container was throttled. The mean is that of the pod with the highest."

// Usage is what the containers of the target's pods used, in a row for each and each step.
func Usage(s *v1beta1.LoadTestStatus) (rows [][]string) {
	for i := range s.Steps {
		step := &s.Steps[i]
		if step.Environment == nil || step.Environment.Usage == nil {
			continue
		}
		pods, restarts := podsOf(step.Environment)
		for _, c := range step.Environment.Usage.Containers {
			name := c.Name
			if c.OutOfMemory {
				name += " (out of memory)"
			}
			rows = append(rows, []string{Title(step), name, pods, restarts,
				orUnknown(c.CPU), orUnknown(c.MostCPU), orUnknown(c.CPULimit), orUnknown(c.MostMemory), orUnknown(c.MemoryLimit), fmt.Sprint(c.Readings)})
		}
	}
	return rows
}

// podsOf is the number of pods, from the one to the other if it changed, and how often their
// containers restarted meanwhile.
func podsOf(e *v1beta1.StepEnvironment) (pods, restarts string) {
	before, after := e.Before, e.After
	if before == nil || after == nil || before.Problem != "" || after.Problem != "" {
		return unknown, unknown
	}
	pods = fmt.Sprint(after.Pods)
	if before.Pods != after.Pods {
		pods = fmt.Sprintf("%d to %d", before.Pods, after.Pods)
	}
	return pods, fmt.Sprint(max(0, after.Restarts-before.Restarts))
}

func orUnknown(value string) string {
	if value == "" {
		return unknown
	}
	return value
}

// QueryHeads are the heads of the table of the queries that the administrator's Prometheus answered.
var QueryHeads = []string{"step", "query", "value", "limit"}

// Queries are the answers, in a row for each and each step.
func Queries(s *v1beta1.LoadTestStatus) (rows [][]string) {
	for i := range s.Steps {
		for _, q := range s.Steps[i].Queries {
			rows = append(rows, []string{Title(&s.Steps[i]), q.Name, orUnknown(q.Value), orUnknown(q.Limit)})
		}
	}
	return rows
}

// causes are what must be known before what is said of limits is believed: the first problem of
// the readings, and of each query.
func causes(s *v1beta1.LoadTestStatus) (list []Notice) {
	read, asked := false, map[string]bool{}
	for i := range s.Steps {
		step := &s.Steps[i]
		if env := step.Environment; env != nil && env.Usage != nil && env.Usage.Problem != "" && !read {
			read = true
			list = append(list, Notice{"UsageNotRead", fmt.Sprintf("Step %s: %s", step.Name, env.Usage.Problem)})
		}
		for _, q := range step.Queries {
			if q.Problem != "" && !asked[q.Name] {
				asked[q.Name] = true
				list = append(list, Notice{"QueryNotAnswered", fmt.Sprintf("Step %s, query %s: %s", step.Name, q.Name, q.Problem)})
			}
		}
	}
	return list
}

// usage has what the pods used, and what Prometheus answered.
func (p *page) usage() {
	if rows := Usage(&p.lt.Status); len(rows) > 0 {
		p.line("")
		p.line("Usage of the target's pods")
		p.table(UsageHeads, rows)
	}
	if rows := Queries(&p.lt.Status); len(rows) > 0 {
		p.line("")
		p.line("Queries")
		p.table(QueryHeads, rows)
	}
}
