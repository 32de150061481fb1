package harness

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/verdict"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// Plan makes the assignments of a LoadTest, by worker, and writes its plan and its
// thresholds to its status if it has none. Unlike those of an operator they allow a target on this
// machine.
func Plan(lt *v1beta1.LoadTest) ([]*workerv1.Assignment, error) {
	if len(lt.Status.Steps) == 0 {
		planned, refusal := plan.New(lt, policy.Everything())
		if refusal != nil {
			return nil, refusal
		}
		planned.Record(&lt.Status)
		lt.Status.Thresholds = verdict.Thresholds(&lt.Spec, lt.Status.Requests, lt.Status.Steps)
	}
	assignments := plan.Assignments(lt)
	for _, a := range assignments {
		a.Target.AllowSpecialAddresses = true
		if a.Control != nil {
			a.Control.Target.AllowSpecialAddresses = true
		}
	}
	return assignments, nil
}

// Arrivals is a step with a rate of requests per second, whether or not earlier ones
// were answered.
func Arrivals(rate string, d time.Duration) v1beta1.Step {
	return v1beta1.Step{Name: rate + "/s", Rate: ptr(v1beta1.NewDecimal(rate)), Duration: Lasting(d)}
}

// PacedUsers is a step whose users each have a rate of requests per second.
func PacedUsers(users int32, ratePerUser string, d time.Duration) v1beta1.Step {
	return v1beta1.Step{Name: fmt.Sprintf("%d users", users), Users: &users, RatePerUser: ptr(v1beta1.NewDecimal(ratePerUser)), Duration: Lasting(d)}
}

// ClosedUsers is a step whose users each send as soon as they were answered.
func ClosedUsers(users int32, d time.Duration) v1beta1.Step {
	return v1beta1.Step{Name: fmt.Sprintf("%d users", users), Users: &users, Duration: Lasting(d)}
}

// Burst is a step whose users each send a number of requests.
func Burst(users, requestsPerUser int32) v1beta1.Step {
	return v1beta1.Step{Name: fmt.Sprintf("%d users x %d", users, requestsPerUser), Users: &users, RequestsPerUser: &requestsPerUser}
}

// Lasting is a duration of a spec.
func Lasting(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }

func ptr[T any](v T) *T { return &v }
