package lifecycle_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// accepted is a run whose workers are awaited.
func accepted(spec v1beta1.LoadTestSpec) *v1beta1.LoadTest {
	lt := &v1beta1.LoadTest{Spec: spec}
	lt.Status = lifecycle.Decide(lt, policy.Rules{}, lifecycle.Observed{}, began).Status
	return lt
}

// three workers, the first of which says this.
func three(first exchange.Worker) lifecycle.Observed {
	w := there(exchange.Worker{Connected: true, Ready: true, Answers: 16, Descriptors: oneDigest})
	return lifecycle.Observed{Job: lifecycle.JobPresent, Workers: []exchange.Worker{there(first), w, w}}
}

// there is a worker whose pod runs.
func there(w exchange.Worker) exchange.Worker {
	w.Pod = exchange.PodRunning
	return w
}

func TestTargetVerified(t *testing.T) {
	const (
		none    = "Unknown NoPreflight: spec.preflight is empty: nothing says which version of the target was tested."
		pending = "Unknown PreflightPending: Waiting for workers: each must pass the preflight checks before it is ready."
		passed  = "True PreflightPassed: GET /version has .strategy lua, .store redis; healthy has a status from 200 to 299."
		failed  = "False PreflightFailed: preflight: GET /version: .strategy: a string of 4 bytes instead of \"lua\"."
	)
	ready := exchange.Worker{Connected: true, Ready: true, Answers: 2}
	old := exchange.Worker{Connected: true, Ready: true, Answers: 1}
	asking := exchange.Worker{Connected: true, Message: "preflight: the target is being asked"}
	seeding := exchange.Worker{Connected: true, Message: "setup: 1200 of 5000 requests sent"}
	waiting := exchange.Worker{Connected: true, Reason: v1beta1.ReasonTargetUnreachable, Message: "preflight: GET /version: read: EOF"}
	wrong := exchange.Worker{Connected: true, Reason: v1beta1.ReasonPreflightFailed, Message: strings.TrimSuffix(strings.TrimPrefix(failed, "False PreflightFailed: "), ".")}
	refusing := exchange.Worker{Connected: true, Reason: v1beta1.ReasonWorkerRefused, Message: "too few descriptors"}
	tests := map[string]struct {
		questions []v1beta1.Preflight
		edit      func(*v1beta1.LoadTestSpec)
		seen      lifecycle.Observed
		want      string
		phase     v1beta1.Phase
	}{
		"no questions":          {seen: three(ready), want: none, phase: v1beta1.PhaseRunning},
		"no questions, waiting": {seen: three(asking), want: none, phase: v1beta1.PhaseStarting},
		"no worker is there":    {questions: questions(), want: pending, phase: v1beta1.PhaseStarting},
		"one worker asks":       {questions: questions(), seen: three(asking), want: pending, phase: v1beta1.PhaseStarting},
		"all have asked, and one is busy with the setup": {questions: questions(), seen: three(seeding), want: pending, phase: v1beta1.PhaseStarting},
		"one waits for the target":                       {questions: questions(), seen: three(waiting), want: pending, phase: v1beta1.PhaseStarting},
		"all have asked":                                 {questions: questions(), seen: three(ready), want: passed, phase: v1beta1.PhaseRunning},
		"one had another answer":                         {questions: questions(), seen: three(wrong), want: failed, phase: v1beta1.PhaseFinished},
		"one did not ask all, and says that it is ready": {questions: questions(), seen: three(old), phase: v1beta1.PhaseFinished,
			want: "False PreflightFailed: preflight: 1 of 2 questions were asked; use a worker image of the operator's version."},
		"one had another answer at first": {questions: questions(), want: passed, phase: v1beta1.PhaseRunning,
			seen: three(exchange.Worker{Connected: true, Ready: true, Answers: 2, Reason: wrong.Reason, Message: wrong.Message})},
		"one cannot ask": {questions: questions(), seen: three(refusing), want: pending, phase: v1beta1.PhaseFinished},
		"one had another answer when another could not ask": {questions: questions(), want: failed, phase: v1beta1.PhaseFinished,
			seen: lifecycle.Observed{Job: lifecycle.JobPresent, Workers: []exchange.Worker{there(refusing), there(wrong), there(ready)}}},
		"one had another answer when the run was ended": {questions: questions(), seen: three(wrong), want: failed, phase: v1beta1.PhaseFinished,
			edit: func(s *v1beta1.LoadTestSpec) { s.Terminate = true }},
		"one had another answer when the run was held": {questions: questions(), seen: three(wrong), want: pending, phase: v1beta1.PhaseSuspended,
			edit: func(s *v1beta1.LoadTestSpec) { s.Suspend = true }},
		"all say what they found before the Job was deleted": {questions: questions(), want: pending, phase: v1beta1.PhaseStarting,
			seen: lifecycle.Observed{Workers: []exchange.Worker{ready, ready, ready}}},
		"all say it while the Job is on its way out": {questions: questions(), want: pending, phase: v1beta1.PhaseStarting,
			seen: lifecycle.Observed{Job: lifecycle.JobDeleting, Workers: three(ready).Workers}},
		"one says what it found before its pod was deleted": {questions: questions(), want: pending, phase: v1beta1.PhaseStarting,
			seen: lifecycle.Observed{Job: lifecycle.JobPresent, Workers: []exchange.Worker{ready, there(ready), there(ready)}}},
		"another answer, from before the Job was deleted": {questions: questions(), want: pending, phase: v1beta1.PhaseStarting,
			seen: lifecycle.Observed{Workers: []exchange.Worker{wrong, wrong, wrong}}},
		"what a worker said that is gone": {questions: questions(), want: pending, phase: v1beta1.PhaseStarting,
			seen: lifecycle.Observed{Job: lifecycle.JobPresent, Workers: []exchange.Worker{there(exchange.Worker{Reason: wrong.Reason, Message: wrong.Message})}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			spec := ladder()
			spec.Preflight = tt.questions
			lt := accepted(spec)
			if tt.edit != nil {
				tt.edit(&lt.Spec)
			}
			s := lifecycle.Decide(lt, policy.Rules{}, tt.seen, began.Add(time.Second)).Status
			if diff := cmp.Diff(tt.want, said(s, v1beta1.ConditionTargetVerified)); diff != "" || s.Phase != tt.phase {
				t.Errorf("phase %s, want %s; condition (-want +got):\n%s", s.Phase, tt.phase, diff)
			}
		})
	}
}

func TestTargetOfARunThatIsHeldFromTheBeginning(t *testing.T) {
	spec := ladder()
	spec.Suspend, spec.Preflight = true, questions()
	want := "Unknown PreflightPending: Waiting for workers: each must pass the preflight checks before it is ready."
	same.As(t, "condition", want, said(accepted(spec).Status, v1beta1.ConditionTargetVerified))
}

// A run that began before anybody could ask stays without the condition, and a
// refused one has nothing to say of the target.
func TestTargetVerifiedIsNotSaidAfterwards(t *testing.T) {
	lt := limited(0)
	s := lifecycle.Decide(lt, policy.Rules{}, three(exchange.Worker{Connected: true, Ready: true}), began.Add(15*time.Second)).Status
	same.As(t, "condition of a run that had begun", "", said(s, v1beta1.ConditionTargetVerified))
	spec := ladder()
	spec.Requests = nil
	same.As(t, "condition of a refused run", "", said(accepted(spec).Status, v1beta1.ConditionTargetVerified))
}

func TestTargetVerifiedMessage(t *testing.T) {
	value := func(path, equals string) v1beta1.ExpectedValue {
		return v1beta1.ExpectedValue{Path: v1beta1.JSONPath(path), Equals: v1beta1.JSONText(equals)}
	}
	tests := map[string]struct {
		expect *v1beta1.Expectation
		want   string
	}{
		"no expectation":              {nil, "q has a status from 200 to 299."},
		"a size":                      {&v1beta1.Expectation{MaxBytes: ptr.To[int64](9)}, "q has a status from 200 to 299."},
		"a status":                    {&v1beta1.Expectation{Status: []int32{204}}, "q has status 204."},
		"one of some statuses":        {&v1beta1.Expectation{Status: []int32{200, 204, 304}}, "q has status 200 or 204 or 304."},
		"a value":                     {&v1beta1.Expectation{Status: []int32{200}, JSON: []v1beta1.ExpectedValue{value(".a[0].b", "v1.2-rc/3")}}, "q has .a[0].b v1.2-rc/3."},
		"values that are none":        {&v1beta1.Expectation{JSON: []v1beta1.ExpectedValue{value(".a", ""), value(".b", "x, .c y"), value(".d", "ä\n")}}, `q has .a "", .b "x, .c y", .d "ä\n".`},
		"characters that end a value": {&v1beta1.Expectation{JSON: []v1beta1.ExpectedValue{value(".a", "~!"), value(".b", "x y"), value(".c", "x,y"), value(".d", "ü")}}, `q has .a ~!, .b "x y", .c "x,y", .d "ü".`},
		"a value just short enough":   {&v1beta1.Expectation{JSON: []v1beta1.ExpectedValue{value(".a", strings.Repeat("x", 60))}}, "q has .a " + strings.Repeat("x", 60) + "."},
		"a long value":                {&v1beta1.Expectation{JSON: []v1beta1.ExpectedValue{value(".a", strings.Repeat("x", 61))}}, "q has .a \"" + strings.Repeat("x", 57) + "…\"."},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			spec := ladder()
			spec.Preflight = []v1beta1.Preflight{{Name: "q", Expect: tt.expect}}
			s := lifecycle.Decide(accepted(spec), policy.Rules{}, three(exchange.Worker{Connected: true, Ready: true, Answers: 16}), began).Status
			same.As(t, "condition", "True PreflightPassed: "+tt.want, said(s, v1beta1.ConditionTargetVerified))
		})
	}
}

func TestTargetVerifiedByCallsMessage(t *testing.T) {
	call := &v1beta1.Call{Method: "shop.v1.Shop/About"}
	spec := ladder()
	spec.Preflight = []v1beta1.Preflight{
		{GRPCHealth: &v1beta1.GRPCHealth{}},
		{GRPCHealth: &v1beta1.GRPCHealth{Service: "shop.v1.Shop"}},
		{Name: "alive", GRPCHealth: &v1beta1.GRPCHealth{}},
		{GRPC: call},
		{GRPC: call, Expect: &v1beta1.Expectation{MaxBytes: ptr.To[int64](9)}},
		{Name: "no cart", GRPC: call, Expect: &v1beta1.Expectation{GRPCStatus: []v1beta1.GRPCStatus{"OK", "NOT_FOUND"}}},
		{Name: "one", GRPC: call, Expect: &v1beta1.Expectation{GRPCStatus: []v1beta1.GRPCStatus{"NOT_FOUND"}}},
		{GRPC: call, Expect: &v1beta1.Expectation{JSON: []v1beta1.ExpectedValue{{Path: ".version", Equals: v1beta1.JSONText("4")}}}},
	}
	s := lifecycle.Decide(accepted(spec), policy.Rules{}, three(exchange.Worker{Connected: true, Ready: true, Answers: 16, Descriptors: oneDigest}), began).Status
	want := "True PreflightPassed: grpcHealth is SERVING; grpcHealth shop.v1.Shop is SERVING; alive is SERVING; shop.v1.Shop/About has status OK; " +
		"shop.v1.Shop/About has status OK; no cart has status OK or NOT_FOUND; one has status NOT_FOUND; shop.v1.Shop/About has .version 4."
	same.As(t, "condition", want, said(s, v1beta1.ConditionTargetVerified))
}

// However much is asked, the message is one that the API server takes, and that
// comes back as it was.
func TestTargetVerifiedMessageIsBounded(t *testing.T) {
	spec := ladder()
	for range 16 {
		spec.Preflight = append(spec.Preflight, v1beta1.Preflight{Name: strings.Repeat("ä", 63)})
	}
	s := lifecycle.Decide(accepted(spec), policy.Rules{}, three(exchange.Worker{Connected: true, Ready: true, Answers: 16}), began).Status
	c := meta.FindStatusCondition(s.Conditions, v1beta1.ConditionTargetVerified)
	if c == nil || c.Status != metav1.ConditionTrue {
		t.Fatalf("condition %v, want that all is verified", c)
	}
	if len(c.Message) > 1024 || len(c.Message) < 1020 || !utf8.ValidString(c.Message) || !strings.HasSuffix(c.Message, "…") {
		t.Errorf("a message of %d bytes, valid: %v: %q", len(c.Message), utf8.ValidString(c.Message), c.Message)
	}
}
