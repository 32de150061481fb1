package report

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/format"
)

// Fact is a line at the head of a report.
type Fact struct{ Name, Text string }

// Facts are what a run was about, before what it measured. An operator that does not
// ask which target it is says nothing of it.
func Facts(lt *v1alpha1.LoadTest) []Fact {
	s := &lt.Status
	list := []Fact{{"Target", Target(&lt.Spec.Target)}}
	if v := lt.Spec.Versus; v != nil {
		list = append(list, Fact{"Compared with", Target(&v.Target)})
	}
	if c := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionTargetVerified); c != nil {
		name := "Target not verified"
		if c.Status == metav1.ConditionTrue {
			name = "Target verified"
		}
		list = append(list, Fact{name, c.Message})
	}
	if d := descriptors(s); d != "" {
		list = append(list, Fact{"Descriptors", d})
	}
	if s.StartTime != nil {
		started := s.StartTime.UTC().Format("2006-01-02 15:04:05 UTC")
		if s.CompletionTime != nil {
			started += ", took " + format.Short(s.CompletionTime.Sub(s.StartTime.Time))
		}
		list = append(list, Fact{"Started", started})
	}
	if s.Workers.Desired > 0 {
		list = append(list, Fact{"Workers", workers(s.Workers)})
	}
	if s.MaxSustainedUsers != nil {
		list = append(list, Fact{"Sustained", fmt.Sprintf("up to %d users with every threshold kept", *s.MaxSustainedUsers)})
	}
	if s.MaxSustainedRate != "" {
		list = append(list, Fact{"Sustained", "up to " + s.MaxSustainedRate + " requests per second with every threshold kept"})
	}
	return list
}

// descriptors are the digests of those by which calls were encoded: of each target that has
// any, if they differ.
func descriptors(s *v1alpha1.LoadTestStatus) string {
	v := s.Versus
	switch {
	case v == nil || v.Descriptors == s.Descriptors:
		return s.Descriptors
	case v.Descriptors == "":
		return s.Descriptors + " of " + v.Candidate
	case s.Descriptors == "":
		return v.Descriptors + " of " + v.Control
	}
	return fmt.Sprintf("%s of %s, %s of %s", s.Descriptors, v.Candidate, v.Descriptors, v.Control)
}
