package fault

import (
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

// Timeout of each request of the suite.
const Timeout = 5 * time.Second

// Step is a step of a run: users that each send one request in every span of a
// length, or a pause if there are none.
type Step struct {
	Users  int
	Every  time.Duration
	Length time.Duration
}

// Load is what a run sends. The target counts it under the run's name.
type Load struct {
	Workers int
	Steps   []Step
	// Delay is how long the target takes to answer.
	Delay time.Duration
	// Change adjusts the spec, in whatever does not change the plan.
	Change func(*v1alpha1.LoadTestSpec)
}

// Planned is how many requests the run is to send.
func (l Load) Planned() int64 {
	var n int64
	for _, s := range l.Steps {
		if s.Users > 0 {
			n += int64(s.Users) * int64(s.Length) / int64(s.Every)
		}
	}
	return n
}

// Length is how long the run takes after its workers are ready, with all drains.
func (l Load) Length() time.Duration {
	var length time.Duration
	for _, s := range l.Steps {
		length += s.Length + l.Delay + Lead
	}
	return length
}

// Spec is the spec of a run of that name against a Service of its namespace.
func (l Load) Spec(name, service string) v1alpha1.LoadTestSpec {
	path := "/" + name
	if l.Delay > 0 {
		path += "?delay=" + l.Delay.String()
	}
	spec := v1alpha1.LoadTestSpec{
		Target: v1alpha1.Target{
			Service: &v1alpha1.ServiceReference{Name: service},
			Timeout: &metav1.Duration{Duration: Timeout},
		},
		Requests:    []v1alpha1.Request{{Name: "counted", Path: path}},
		Parallelism: ptr.To(int32(l.Workers)),
	}
	for i, s := range l.Steps {
		spec.Steps = append(spec.Steps, s.step(fmt.Sprintf("step-%d", i+1)))
	}
	if l.Change != nil {
		l.Change(&spec)
	}
	return spec
}

func (s Step) step(name string) v1alpha1.Step {
	length := &metav1.Duration{Duration: s.Length}
	if s.Users == 0 {
		return v1alpha1.Step{Name: name, Pause: length}
	}
	rate := v1alpha1.NewDecimal(strconv.FormatFloat(1/s.Every.Seconds(), 'f', -1, 64))
	return v1alpha1.Step{Name: name, Users: ptr.To(int32(s.Users)), RatePerUser: &rate, Duration: length}
}
