package lifecycle_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestWhenItIsReadWhereTargetsLeadTo(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*v1beta1.LoadTest)
		want bool
	}{
		"before it begins":                  {func(*v1beta1.LoadTest) {}, true},
		"while it is held":                  {func(lt *v1beta1.LoadTest) { lt.Spec.Suspend = true }, false},
		"while it goes on":                  {func(lt *v1beta1.LoadTest) { lt.Status = accepted(ladder()).Status }, true},
		"not before the port is known":      {func(lt *v1beta1.LoadTest) { lt.Status = accepted(ladder()).Status; lt.Status.TargetURL = "" }, false},
		"not once it is over":               {func(lt *v1beta1.LoadTest) { lt.Status = accepted(ladder()).Status; finish(lt) }, false},
		"not if it was over from the first": {finish, false},
	} {
		lt := &v1beta1.LoadTest{Spec: ladder()}
		tc.edit(lt)
		same.As(t, name+": it needs access", tc.want, lifecycle.NeedsAccess(lt))
	}
}

func finish(lt *v1beta1.LoadTest) {
	meta.SetStatusCondition(&lt.Status.Conditions, metav1.Condition{Type: v1beta1.ConditionFinished, Status: metav1.ConditionTrue})
}

// A target that is not allowed ends a run, whatever it is at.
func TestARunWhoseTargetIsNotAllowedEnds(t *testing.T) {
	const why = "spec.target: Service shortener leads to 10.0.0.1, which is not allowed."
	for name, lt := range map[string]*v1beta1.LoadTest{"as it begins": {Spec: ladder()}, "while it waits": accepted(ladder()), "while it sends": limited(0)} {
		t.Run(name, func(t *testing.T) {
			seen := awaited(ready, ready, ready)
			seen.Access = &lifecycle.Access{Refusal: why, Target: &v1beta1.TargetAccess{Name: "refused."}}
			d := lifecycle.Decide(lt, policy.Rules{}, seen, began.Add(time.Second))
			if d.Status.Verdict != v1beta1.VerdictError || failure(d.Status) != "TargetNotAllowed: "+why {
				t.Errorf("verdict %s: %s", d.Status.Verdict, failure(d.Status))
			}
			if a := d.Status.Internal.Access; a != nil && a.Name == "refused." {
				t.Error("where it leads to is noted")
			}
		})
	}
}

// A Service that is deleted or replaced ends the run that sends load to it: its address may be
// another's by now. What an audit found before stands.
func TestARunWhoseServiceIsGoneEnds(t *testing.T) {
	const why = "spec.target: Service shortener was deleted while the run went on."
	seen := awaited(ready, ready, ready)
	seen.Access = &lifecycle.Access{Problem: "spec.target: Service shortener does not exist.", Gone: why}
	lt, stored := limited(0), &v1beta1.Stored{Value: ".n", Requests: []string{"append"}}
	lt.Spec.Audits = []v1beta1.Audit{{Name: "first", Stored: stored}, {Name: "second", Stored: stored}}
	lt.Status.Audits = plan.Audits(&lt.Spec)
	lt.Status.Audits[0].State = v1beta1.AuditFailed
	d := lifecycle.Decide(lt, policy.Rules{}, seen, began.Add(time.Second))
	if d.Status.Verdict != v1beta1.VerdictError || failure(d.Status) != "TargetGone: "+why {
		t.Errorf("verdict %s: %s", d.Status.Verdict, failure(d.Status))
	}
	if a := d.Status.Audits; a[0].State != v1beta1.AuditFailed || a[1].State != v1beta1.AuditInconclusive {
		t.Errorf("the audits are %s and %s", a[0].State, a[1].State)
	}
}

// Where a target leads to is noted once, and waited for as long as it is not known.
func TestWhereTargetsLeadToIsNotedOnce(t *testing.T) {
	first, later := &v1beta1.TargetAccess{Name: "first."}, &v1beta1.TargetAccess{Name: "later."}
	lt := &v1beta1.LoadTest{Spec: comparing()}
	pass := func(a lifecycle.Access) {
		t.Helper()
		seen := awaited(coming, coming, coming)
		seen.Access = &a
		lt.Status = lifecycle.Decide(lt, policy.Rules{}, seen, began.Add(time.Second)).Status
	}
	pass(lifecycle.Access{Problem: "Service shortener does not exist."})
	if lt.Status.StartTime == nil || lt.Status.Internal.Access != nil {
		t.Fatalf("started %v, access %+v", lt.Status.StartTime, lt.Status.Internal.Access)
	}
	pass(lifecycle.Access{Problem: "Service shortener does not exist"})
	if got, want := said(lt.Status, v1beta1.ConditionWorkersReady), "False TargetUnreachable: Service shortener does not exist."; got[:len(want)] != want {
		t.Errorf("%s, want %s", got, want)
	}
	if d := decide(lt, lifecycle.Observed{Workers: make([]exchange.Worker, 3), Access: &lifecycle.Access{Problem: "?"}}, time.Second); d.Job != lifecycle.JobKeep || d.RequeueAfter != 2*time.Second {
		t.Errorf("Job %v, again after %v", d.Job, d.RequeueAfter)
	}
	for range 2 {
		pass(lifecycle.Access{Target: first, Control: first})
		if lt.Status.Internal.Access.Name != "first." || lt.Status.Internal.ControlAccess.Name != "first." {
			t.Errorf("access %+v, of the control %+v", lt.Status.Internal.Access, lt.Status.Internal.ControlAccess)
		}
	}
	pass(lifecycle.Access{Target: later, Control: later})
	if lt.Status.Internal.Access.Name != "first." || lt.Status.Internal.ControlAccess.Name != "first." {
		t.Errorf("noted anew: access %+v, of the control %+v", lt.Status.Internal.Access, lt.Status.Internal.ControlAccess)
	}
	pass(lifecycle.Access{Problem: "the API server does not answer"})
	if got := said(lt.Status, v1beta1.ConditionWorkersReady); got[:len("False Waiting")] != "False Waiting" {
		t.Errorf("what is known is waited for: %s", got)
	}
}
