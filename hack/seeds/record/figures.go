package record

import (
	"fmt"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// LoadTest is the one of a name, nil if it did not run.
func (r *Record) LoadTest(name string) *v1beta1.LoadTest {
	if r == nil {
		return nil
	}
	for i := range r.LoadTests {
		if r.LoadTests[i].Name == name {
			return &r.LoadTests[i]
		}
	}
	return nil
}

// Rungs are the steps of a load test that send something, in order.
func Rungs(lt *v1beta1.LoadTest) []*v1beta1.StepStatus {
	var list []*v1beta1.StepStatus
	for i := range lt.Status.Steps {
		if step := &lt.Status.Steps[i]; !step.Load.IsPause() {
			list = append(list, step)
		}
	}
	return list
}

// Complete says whether each of the tests ran, and has measured each of its steps.
func (r *Record) Complete(tests []string) error {
	for _, name := range tests {
		lt := r.LoadTest(name)
		if lt == nil {
			return fmt.Errorf("%s did not run", name)
		}
		rungs := Rungs(lt)
		if len(rungs) == 0 {
			return fmt.Errorf("%s has no steps", name)
		}
		for _, step := range rungs {
			if step.Result == nil {
				return fmt.Errorf("%s has no result of step %s", name, step.Name)
			}
		}
	}
	return nil
}

// Verified says whether the target was the one that was meant.
func Verified(lt *v1beta1.LoadTest) bool {
	return meta.IsStatusConditionTrue(lt.Status.Conditions, v1beta1.ConditionTargetVerified)
}

// Number is a figure of a status; 0 if there is none.
func Number(text string) float64 {
	v, _ := strconv.ParseFloat(text, 64) // a figure that is absent is 0
	return v
}

// Items are the items per second of a step: requests, or what they carry.
func Items(r *v1beta1.StepResult) float64 {
	if r.ItemsPerSecond != "" {
		return Number(r.ItemsPerSecond)
	}
	return Number(r.Goodput)
}

// Time is a quantile, 0 if it is not known.
func Time(d *metav1.Duration) time.Duration {
	if d == nil {
		return 0
	}
	return d.Duration
}

// P50 is the median response time of a step, of a type of request if one is named.
func P50(r *v1beta1.StepResult, kind string) time.Duration {
	l := r.ResponseTime
	if kind != "" {
		l = nil
		for i := range r.Types {
			if r.Types[i].Name == kind {
				l = r.Types[i].ResponseTime
			}
		}
	}
	if l == nil {
		return 0
	}
	return Time(l.P50)
}
