package lifecycle_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// A load waits, with its workers ready, for the load before it. What happens to a worker then, as with a restart
// of the operator, has the whole start deadline again.
func TestAWaitingLoadOutlivesARestart(t *testing.T) {
	waits := &lifecycle.Parent{Name: "sale", Lists: true} // Begin is nil: the load before it runs
	ready := exchange.Worker{Connected: true, Ready: true, Answers: 16, Descriptors: oneDigest}
	for name, c := range map[string]struct {
		away func() lifecycle.Observed
		says string
	}{
		"another process, no worker has found it yet": {func() lifecycle.Observed {
			w := there(exchange.Worker{})
			return lifecycle.Observed{Job: lifecycle.JobPresent, Workers: []exchange.Worker{w, w, w}} // Since is zero
		}, "3 of 3 workers not ready yet."},
		"one session ended for a moment": {func() lifecycle.Observed {
			s := three(exchange.Worker{LastSeen: began.Add(10 * time.Minute)})
			s.Since = began
			return s
		}, "1 of 3 workers not ready yet."},
	} {
		t.Run(name, func(t *testing.T) {
			lt := &v1beta1.LoadTest{Spec: ladder()} // startDeadlineSeconds: 60
			for range 2 {
				lt.Status = lifecycle.Decide(lt, policy.Rules{}, lifecycle.Observed{Parent: waits}, began).Status
			}
			lt.Status.TargetURL = "http://shortener:8080"
			look := func(seen lifecycle.Observed, after time.Duration) string {
				t.Helper()
				seen.Parent = waits
				d, err := lifecycle.DecideUnwritten(lt, policy.Rules{}, seen, began.Add(after))
				must.Succeed(t, err)
				if lt.Status = d.Status; lt.Status.Verdict != "" {
					return string(lt.Status.Verdict) + " " + said(lt.Status, v1beta1.ConditionCarriedOut)
				}
				return said(lt.Status, v1beta1.ConditionWorkersReady)
			}
			seen := three(ready)
			seen.Since = began
			if look(seen, 20*time.Second); !meta.IsStatusConditionTrue(lt.Status.Conditions, v1beta1.ConditionWorkersReady) {
				t.Fatal(lt.Status.Conditions)
			}
			want := "False Waiting: " + c.says + " The run gives up at 10:11:00 UTC (startDeadlineSeconds)."
			same.As(t, "once a worker is away", want, look(c.away(), 10*time.Minute))
			same.As(t, "shortly before the deadline", want, look(c.away(), 11*time.Minute-time.Second))
			same.As(t, "at the deadline", "Error False StartDeadlineExceeded: The workers were not ready within startDeadlineSeconds (60s). "+c.says, look(c.away(), 11*time.Minute))
		})
	}
}
