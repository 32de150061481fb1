package report

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// Notice is what a reader must know before believing the figures.
type Notice struct{ Reason, Message string }

// Attention are the conditions that stand as they should not, then what became of the
// target and what is not known of it, and then what the figures themselves show.
func Attention(s *v1beta1.LoadTestStatus) []Notice {
	said := Judgement(s)
	var list []Notice
	for _, c := range s.Conditions {
		if alarming(c) && c.Message != said && (c.Message == "" || !strings.Contains(said, c.Message)) {
			list = append(list, Notice{c.Reason, c.Message})
		}
	}
	list = append(list, surroundings(s)...)
	list = append(list, causes(s)...)
	list = append(list, down(s)...)
	list = append(list, piledUp(s.Steps, said)...)
	return append(list, indicators(s.Steps)...)
}

func (p *page) attention() {
	list, width := Attention(&p.lt.Status), 0
	for _, n := range list {
		width = max(width, len(n.Reason))
	}
	if len(list) == 0 {
		return
	}
	p.line("")
	p.line("Attention")
	for _, n := range list {
		p.line("  %-*s  %s", max(width, labelWidth-4), n.Reason, n.Message)
	}
}

// alarming says whether a condition stands as it should not.
func alarming(c metav1.Condition) bool {
	switch c.Type {
	case v1beta1.ConditionAccepted, v1beta1.ConditionWorkersReady, v1beta1.ConditionGeneratorHealthy:
		return c.Status == metav1.ConditionFalse
	case v1beta1.ConditionSuspended:
		return c.Status == metav1.ConditionTrue
	case v1beta1.ConditionCarriedOut:
		return c.Status == metav1.ConditionTrue && c.Reason != v1beta1.ReasonAllStepsRan
	}
	return false
}
