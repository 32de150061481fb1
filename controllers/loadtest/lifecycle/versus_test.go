package lifecycle_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/world"
)

// comparing is a run of three workers against two targets: one rung, twice.
func comparing() v1beta1.LoadTestSpec {
	spec := ladder()
	control := v1beta1.OtherTarget{Name: "v3", Service: spec.Target.Service.DeepCopy()}
	control.Service.Name = "shortener-v3"
	spec.OtherTargets, spec.Versus = []v1beta1.OtherTarget{control}, &v1beta1.Versus{Target: "v3"}
	spec.Ladder.Users, spec.Repetitions = []int32{100}, 2
	spec.Thresholds = append(spec.Thresholds, v1beta1.Threshold{Metric: "p95", MaxIncrease: "10%"})
	return spec
}

var versusStories = map[string]func(*world.World){
	"versus-equal":            func(*world.World) {},
	"versus-slower-candidate": func(w *world.World) { w.Latency, w.Slower = 100*time.Millisecond, -50*time.Millisecond },
	"versus-slower-control":   func(w *world.World) { w.Slower = time.Second },
	"versus-stops-after-a-pair": func(w *world.World) {
		w.Latency, w.Slower = 300*time.Millisecond, -290*time.Millisecond
		w.LoadTest().Spec.Ladder.StopOnBreach = true
	},
	"versus-a-worker-dies":  func(w *world.World) { w.Workers[1].DiesIn = 1500 * time.Millisecond },
	"versus-by-old-workers": func(w *world.World) { w.Targets = 0 },
	"versus-asks-both": func(w *world.World) {
		w.LoadTest().Spec.Preflight = questions()
		w.LoadTest().Spec.Versus.Preflight = questions()[:1]
		w.LoadTest().Spec.Versus.Preflight[0].Expect.JSON[0].Equals = v1beta1.JSONText("hash")
	},
	"versus-control-comes-late": func(w *world.World) {
		w.LoadTest().Spec.OtherTargets[0].Service.Port = ptr.To(intstr.FromString("http"))
		w.NoPort = "Service shortener-v3 (spec.otherTargets[v3].service) does not exist."
		w.After(20*time.Second, func() { w.Port, w.NoPort = 8081, "" })
	},
}

func TestVersusStories(t *testing.T) {
	for name, script := range versusStories {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, comparing())
			w.Targets = 2
			script(w)
			checkStory(t, w, "stories", name)
		})
	}
}

// The figures of the printed line are the candidate's, also while the control has its step.
func TestSummaryIsTheCandidates(t *testing.T) {
	w := newWorld(t, comparing())
	w.Targets, w.Slower = 2, time.Second
	storyOf(t, w)
	if s := w.LoadTest().Status.Summary; s.P95 != "20ms" || s.Step != "4/4" {
		t.Errorf("step %s, p95 %s; want 4/4 and the 20ms of the candidate", s.Step, s.P95)
	}
	var names []string
	for _, s := range w.LoadTest().Status.Spread {
		names = append(names, s.Name)
		if s.Repetitions != 2 || (s.P95.Max.Duration > time.Second) != (s.Name == "100 on v3") {
			t.Errorf("spread of %s: %+v", s.Name, s.P95)
		}
	}
	if len(names) != 2 {
		t.Errorf("spread of %v, want one for each side", names)
	}
}

// Each of two named ports is looked up, the candidate's first.
func TestBothTargetsAreFound(t *testing.T) {
	named := ptr.To(intstr.FromString("http"))
	lt := &v1beta1.LoadTest{Spec: comparing()}
	lt.Namespace = "default"
	lt.Spec.Target.Service.Port, lt.Spec.OtherTargets[0].Service.Port = named, named
	planned, _ := plan.New(lt, policy.Rules{})
	planned.Record(&lt.Status)
	if target, _ := lifecycle.UnknownTarget(lt); target != nil {
		t.Error("a target of a run that was not taken up is looked up")
	}
	lt.Status.StartTime = &metav1.Time{Time: began}
	over := lt.DeepCopy()
	finish(over)
	if target, _ := lifecycle.UnknownTarget(over); target != nil {
		t.Error("a target of a run that has finished is looked up")
	}
	for _, want := range []struct{ field, url, control string }{
		{"spec.target", "http://shortener.default.svc:8081", ""},
		{"spec.otherTargets[v3]", "http://shortener.default.svc:8081", "http://shortener-v3.default.svc:8081"},
	} {
		target, field := lifecycle.UnknownTarget(lt)
		if target == nil || field != want.field {
			t.Fatalf("unknown is %s, want %s", field, want.field)
		}
		lt.Status = lifecycle.Decide(lt, policy.Rules{}, lifecycle.Observed{TargetPort: 8081}, began).Status
		if s := lt.Status; s.TargetURL != want.url || s.Versus.TargetURL != want.control {
			t.Errorf("targets %s and %s, want %s and %s", s.TargetURL, s.Versus.TargetURL, want.url, want.control)
		}
	}
	if target, field := lifecycle.UnknownTarget(lt); target != nil {
		t.Errorf("%s is still unknown", field)
	}
	lt.Spec.Versus, lt.Status.Versus.TargetURL = nil, "" // whatever a status says
	if target, field := lifecycle.UnknownTarget(lt); target != nil {
		t.Errorf("%s is unknown", field)
	}
}

// The named ports of other targets are looked up one after another, after both targets of a comparison.
func TestOtherTargetsAreFound(t *testing.T) {
	t.Run("with a control", func(t *testing.T) { otherTargetsAreFound(t, comparing()) })
	t.Run("without one", func(t *testing.T) { otherTargetsAreFound(t, ladder()) })
}

func otherTargetsAreFound(t *testing.T, spec v1beta1.LoadTestSpec) {
	t.Helper()
	named := ptr.To(intstr.FromString("http"))
	lt := &v1beta1.LoadTest{Spec: spec}
	lt.Namespace = "default"
	lt.Spec.Requests = append(lt.Spec.Requests, *lt.Spec.Requests[0].DeepCopy(), *lt.Spec.Requests[0].DeepCopy())
	for i, name := range []string{"a", "b"} {
		lt.Spec.OtherTargets = append(lt.Spec.OtherTargets, v1beta1.OtherTarget{Name: name, Service: &v1beta1.ServiceReference{Name: name, Port: named}})
		r := &lt.Spec.Requests[len(lt.Spec.Requests)-1-i]
		r.Name, r.Target = "to "+name, name
	}
	planned, refusal := plan.New(lt, policy.Rules{})
	if refusal != nil {
		t.Fatal(refusal.Message)
	}
	planned.Record(&lt.Status)
	lt.Status.StartTime = &metav1.Time{Time: began}
	for _, name := range []string{"a", "b"} {
		if target, field := lifecycle.UnknownTarget(lt); target == nil || field != "spec.otherTargets["+name+"]" || target.Service.Name != name {
			t.Fatalf("unknown is %s, want that of %s", field, name)
		}
		lt.Status = lifecycle.Decide(lt, policy.Rules{}, lifecycle.Observed{TargetPort: 8081}, began).Status
	}
	if target, field := lifecycle.UnknownTarget(lt); target != nil {
		t.Errorf("%s is still unknown", field)
	}
	for i, name := range []string{"a", "b"} {
		if got, want := lt.Status.OtherTargets[i].TargetURL, "http://"+name+".default.svc:8081"; got != want {
			t.Errorf("target %s is %s, want %s", name, got, want)
		}
	}
}

// A worker that knows no other targets would send all requests to the first.
func TestOldWorkersSendToNoOtherTargets(t *testing.T) {
	spec := ladder()
	spec.OtherTargets = []v1beta1.OtherTarget{{Name: "identity", Service: &v1beta1.ServiceReference{Name: "keycloak"}}}
	token := *spec.Requests[0].DeepCopy()
	token.Name, token.Target = "token", "identity"
	spec.Requests = append(spec.Requests, token)
	w := newWorld(t, spec)
	w.Targets = 0
	checkStory(t, w, "stories", "other-targets-by-old-workers")
}

// Each target counts that a worker has to know; a worker of one target need not say so.
func TestWorkersOfTooFewTargets(t *testing.T) {
	other, both := ladder(), comparing()
	other.OtherTargets = []v1beta1.OtherTarget{{Name: "a", Service: &v1beta1.ServiceReference{Name: "a"}}}
	token := *other.Requests[0].DeepCopy()
	token.Name, token.Target = "token", "a"
	other.Requests = append(other.Requests, token)
	both.OtherTargets, both.Requests = append(both.OtherTargets, other.OtherTargets...), other.Requests
	for name, tc := range map[string]struct {
		spec v1beta1.LoadTestSpec
		want int32
	}{"one": {ladder(), 0}, "a control": {comparing(), 2}, "another": {other, 2}, "both": {both, 3}} {
		for targets := range int32(4) {
			lt := accepted(tc.spec)
			lt.Status.TargetURL = "http://shortener:8080"
			seen := three(exchange.Worker{Connected: true, Ready: true, Targets: targets, Answers: 16})
			for i := range seen.Workers {
				seen.Workers[i].Targets = targets
			}
			busy := seen
			busy.Workers = []exchange.Worker{there(exchange.Worker{Connected: true})}
			if s := decide(lt, busy, time.Second).Status; s.Verdict != "" {
				t.Errorf("%s: a worker that is not ready yet ended it with %s", name, failure(s))
			}
			s := decide(lt, seen, time.Second).Status
			if got := s.Workers.Ready == 3; got != (targets >= tc.want) {
				t.Errorf("%s: with workers of %d targets it is %t that all are ready", name, targets, got)
			}
			if got := strings.Contains(failure(s), "spec.versus: the worker supports only one"); got != (targets < tc.want && tc.spec.Versus != nil) {
				t.Errorf("%s: with workers of %d targets it ended with %s", name, targets, failure(s))
			}
		}
	}
}

// A target of which nothing is asked was not verified.
func TestControlAloneIsVerified(t *testing.T) {
	spec := comparing()
	spec.Versus.Preflight = questions()
	seen := three(exchange.Worker{Connected: true, Ready: true, Targets: 2, Answers: 16})
	for i := range seen.Workers {
		seen.Workers[i].Targets = 2
	}
	const want = "shortener: nothing was verified; v3: GET /version has .strategy lua, .store redis; healthy has a status from 200 to 299."
	if got := said(decide(accepted(spec), seen, time.Second).Status, v1beta1.ConditionTargetVerified); got != "True PreflightPassed: "+want {
		t.Errorf("%s, want %s", got, want)
	}
}
