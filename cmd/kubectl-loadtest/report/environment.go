package report

import (
	"fmt"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Environment is what was tested, in a line for each thing to know; it is empty where
// nothing was read.
func Environment(s *v1beta1.LoadTestStatus) []Fact {
	env := s.Environment
	if env == nil {
		return nil
	}
	var list []Fact
	add := func(name, format string, args ...any) {
		list = append(list, Fact{name, fmt.Sprintf(format, args...)})
	}
	if least, most, read := podCounts(s.Steps); read {
		said := fmt.Sprint(most)
		if least != most {
			said = fmt.Sprintf("%d to %d", least, most)
		}
		if n := len(env.Nodes); n > 0 {
			said += " on " + text.Plural(int64(n), "node") + ": " + strings.Join(env.Nodes, ", ")
		}
		add("Pods", "%s", said)
	}
	known := map[string]bool{}
	for _, c := range env.Configurations {
		label := "Service " + c.Service
		if known[c.Service] {
			label = "Later"
		}
		known[c.Service] = true
		for _, container := range c.Containers {
			limits := container.Limits
			if limits == "" {
				limits = "no limits"
			}
			add(label, "%s: %s %s; %s", container.Name, container.Image, container.Digest, limits)
		}
		if a := c.Autoscaler; a != nil {
			add("Autoscaler", "%s: %d to %d pods", a.Name, a.Min, a.Max)
		}
	}
	return list
}

// podCounts are the least and the most pods of all readings.
func podCounts(steps []v1beta1.StepStatus) (least, most int32, read bool) {
	for i := range steps {
		for _, r := range readings(&steps[i]) {
			if r.Problem != "" {
				continue
			}
			if least = min(least, r.Pods); !read {
				least = r.Pods
			}
			most, read = max(most, r.Pods), true
		}
	}
	return least, most, read
}

func readings(step *v1beta1.StepStatus) (list []*v1beta1.EnvironmentReading) {
	if step.Environment == nil {
		return nil
	}
	for _, r := range []*v1beta1.EnvironmentReading{step.Environment.Before, step.Environment.After} {
		if r != nil {
			list = append(list, r)
		}
	}
	return list
}

// surroundings are what of the target's environment must be known before the figures are
// believed.
func surroundings(s *v1beta1.LoadTestStatus) []Notice {
	if s.Environment == nil {
		return nil
	}
	var list []Notice
	said, problem := Judgement(s), ""
	for i := range s.Steps {
		if env := s.Steps[i].Environment; env != nil {
			for _, c := range env.Changes {
				if c.Message != said {
					list = append(list, Notice{string(c.Reason), c.Message})
				}
			}
		}
		for _, r := range readings(&s.Steps[i]) {
			if problem == "" {
				problem = r.Problem
			}
		}
	}
	const most = 8
	if more := len(list) - most; more > 0 {
		list = append(list[:most], Notice{"TargetChanges", fmt.Sprintf("The status of the steps has %d more changes.", more)})
	}
	if problem != "" {
		list = append(list, Notice{"TargetNotRead", problem})
	}
	for _, n := range s.Environment.SharedNodes {
		list = append(list, Notice{"SharedNode", fmt.Sprintf("%s ran on node %s, where a pod of the target ran too.", text.Plural(int64(n.Workers), "worker"), n.Node)})
	}
	return list
}

func (p *page) environment() {
	list := Environment(&p.lt.Status)
	if len(list) == 0 {
		return
	}
	width := labelWidth - 4
	for _, f := range list {
		width = max(width, len(f.Name)) // a Service may have any name
	}
	p.line("")
	p.line("Environment")
	for _, f := range list {
		p.line("  %-*s  %s", width, f.Name, f.Text)
	}
}
