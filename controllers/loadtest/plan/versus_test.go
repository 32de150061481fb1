package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// versus is a spec with a control called v3.
func versus(s *v1beta1.LoadTestSpec, change ...func(*v1beta1.LoadTestSpec)) *v1beta1.LoadTestSpec {
	s.Target = v1beta1.Target{Service: &v1beta1.ServiceReference{Name: "shortener-v4"}}
	s.OtherTargets = []v1beta1.OtherTarget{{Name: "v3", Service: &v1beta1.ServiceReference{Name: "shortener-v3"}}}
	s.Versus = &v1beta1.Versus{Target: "v3"}
	for _, f := range change {
		f(s)
	}
	return s
}

func seeded(seed int64) func(*v1beta1.LoadTestSpec) {
	return func(s *v1beta1.LoadTestSpec) { s.RandomSeed = &seed }
}

// Each step that sends load is one of a pair of the same load, rung and repetition, with
// a ladder's rest between the two.
func TestStepsOfBothSidesArePaired(t *testing.T) {
	var got []string
	for _, s := range planned(t, versus(repeated(2, rungs(true, 10, 100)), seeded(3))).Steps {
		got = append(got, fmt.Sprintf("%d/%d %s %s", s.Repetition, s.Rung, s.Side, s.Name))
	}
	want := []string{
		"1/1 Candidate 10", "1/1  rest", "1/1 Control 10 on v3", "1/2  rest",
		"1/3 Candidate 100", "1/3  rest", "1/3 Control 100 on v3", "1/4  rest",
		"2/1 Candidate 10 (2)", "2/1  rest", "2/1 Control 10 on v3 (2)", "2/2  rest",
		"2/3 Candidate 100 (2)", "2/3  rest", "2/3 Control 100 on v3 (2)",
	}
	same.As(t, "steps, each pair in one order", sides(want), sides(got))
}

// sides are steps with the candidate's before the control's in each pair.
func sides(steps []string) []string {
	list := slices.Clone(steps)
	for i := range list {
		if i+2 < len(list) && strings.Contains(list[i], "Control") && strings.Contains(list[i+2], "Candidate") && list[i][:3] == list[i+2][:3] {
			list[i], list[i+2] = list[i+2], list[i]
		}
	}
	return list
}

func order(t *testing.T, s *v1beta1.LoadTestSpec) string {
	t.Helper()
	text := ""
	for _, s := range planned(t, s).Steps {
		text += string(s.Side)[1:2]
	}
	return text
}

// The order is drawn for each pair by itself, from the seed.
func TestOrderWithinPairsIsDrawn(t *testing.T) {
	orders, first := map[string]bool{}, 0
	for seed := range int64(200) {
		text := order(t, versus(repeated(5, rungs(false, 10)), seeded(seed)))
		if again := order(t, versus(repeated(5, rungs(false, 10)), seeded(seed))); again != text {
			t.Fatalf("seed %d draws %s and %s", seed, text, again)
		}
		orders[text] = true
		for i := 0; i < len(text); i += 2 {
			switch text[i : i+2] {
			case "ao":
				first++
			case "oa":
			default:
				t.Fatalf("seed %d draws %s: a pair lacks a side", seed, text)
			}
		}
	}
	// SplitMix64 begins with e220a8397b1dcdaf, 6e789e6aa1b965f4, 06c45d188009454f, f88bb8a8724c81ec, 1b39896a51a8749b.
	same.As(t, "what seed 0 draws", "oaaooaaooa", order(t, versus(repeated(5, rungs(false, 10)), seeded(0))))
	same.As(t, "orders of 5 pairs that were drawn", 32, len(orders))
	if first < 430 || first > 570 { // 500 and 4.4 standard deviations of 15.8
		t.Errorf("the candidate is first in %d of 1000 pairs", first)
	}
}

func TestStepsOfBothSidesHaveNamesOfTheirOwn(t *testing.T) {
	long := strings.Repeat("ü", 63)
	users := func(name string) v1beta1.Step {
		return v1beta1.Step{Name: name, Users: ptr(int32(7)), Duration: duration(time.Second)}
	}
	for name, s := range map[string]*v1beta1.LoadTestSpec{
		"long names":             withSteps(users(long), users(long[:2*58])),
		"the user's own on v3":   withSteps(users("x"), users("x on v3"), users("x on v3 (2)")),
		"steps of the same load": rungs(true, 5, 5, 5),
	} {
		taken := map[string]bool{}
		for _, step := range planned(t, versus(repeated(3, s))).Steps {
			if step.Load.IsPause() {
				continue
			}
			if runes := len([]rune(step.Name)); taken[step.Name] || runes == 0 || runes > 63 {
				t.Errorf("%s: step %q", name, step.Name)
			}
			taken[step.Name] = true
		}
	}
}

func TestNamesOfTheSides(t *testing.T) {
	at := func(url string) v1beta1.Target { return v1beta1.Target{URL: url} }
	other := func(name, url string) v1beta1.OtherTarget { return v1beta1.OtherTarget{Name: name, URL: url} }
	named := func(name, url string) func(*v1beta1.LoadTestSpec) {
		return func(s *v1beta1.LoadTestSpec) {
			s.Target, s.OtherTargets[0], s.Versus.Target = at(url), other(name, "http://c"), name
		}
	}
	for name, tc := range map[string]struct {
		change func(*v1beta1.LoadTestSpec)
		want   v1beta1.VersusStatus
	}{
		"of a Service": {func(*v1beta1.LoadTestSpec) {}, v1beta1.VersusStatus{Candidate: "shortener-v4", Control: "v3", TargetURL: "http://shortener-v3.demo.svc:80"}},
		"of a host": {func(s *v1beta1.LoadTestSpec) {
			s.Target, s.OtherTargets[0] = at("http://a:1/"), other("v3", "http://a:2/")
		}, v1beta1.VersusStatus{Candidate: "a:1", Control: "v3", TargetURL: "http://a:2"}},
		"of one host":        {named("a", "http://a"), v1beta1.VersusStatus{Candidate: "candidate", Control: "a", TargetURL: "http://c"}},
		"called candidate":   {named("candidate", "http://candidate"), v1beta1.VersusStatus{Candidate: "target", Control: "candidate", TargetURL: "http://c"}},
		"called target":      {named("target", "http://target"), v1beta1.VersusStatus{Candidate: "candidate", Control: "target", TargetURL: "http://c"}},
		"a port with a name": {func(s *v1beta1.LoadTestSpec) { s.OtherTargets[0].Service.Port = ptr(intstr.FromString("http")) }, v1beta1.VersusStatus{Candidate: "shortener-v4", Control: "v3"}},
	} {
		same.As(t, name, &tc.want, planned(t, versus(rungs(false, 1), tc.change)).Versus)
	}
}

// The control obeys each rule that the candidate does.
func TestVersusRefusals(t *testing.T) {
	at := func(url string) v1beta1.OtherTarget { return v1beta1.OtherTarget{Name: "v3", URL: url} }
	for name, tc := range map[string]struct {
		change func(*v1beta1.LoadTestSpec)
		want   string
	}{
		"host that is not allowed": {
			func(s *v1beta1.LoadTestSpec) { s.OtherTargets[0] = at("http://bank.example.com") },
			"spec.otherTargets[v3].url: host bank.example.com is not allowed; use a Service of this cluster, or ask the administrator to add bank.example.com to targets.rules of the operator's configuration.",
		},
		"proxy that is not allowed": {
			func(s *v1beta1.LoadTestSpec) {
				s.OtherTargets[0] = at("http://v3.demo.svc.cluster.local")
				s.OtherTargets[0].Proxy = &v1beta1.Proxy{URL: "http://192.0.2.9"}
			},
			"spec.otherTargets[v3].proxy.url: host 192.0.2.9 is not allowed as a proxy; ask the administrator to add it, with proxies: true, to targets.rules of the operator's configuration.",
		},
		"no target": {func(s *v1beta1.LoadTestSpec) { s.OtherTargets[0] = at("") },
			"spec.otherTargets[v3].url: must be http:// or https:// with a host, for example http://shortener:8080."},
		"no URL": {func(s *v1beta1.LoadTestSpec) { s.OtherTargets[0] = at("http://a b") },
			"spec.otherTargets[v3].url: must be http:// or https:// with a host, for example http://shortener:8080."},
		"a timeout": {func(s *v1beta1.LoadTestSpec) {
			s.Target.Timeout, s.OtherTargets[0].Timeout = duration(time.Second), duration(time.Second)
		}, "spec.otherTargets[v3].timeout: must not be set in the target that versus names: spec.target.timeout holds for both."},
		"none of the other targets": {func(s *v1beta1.LoadTestSpec) { s.Versus.Target = "V3" },
			`spec.versus.target: "V3" is not the name of one of spec.otherTargets: v3.`},
		"no other targets": {func(s *v1beta1.LoadTestSpec) { s.OtherTargets = nil },
			`spec.versus.target: "v3" is not the name of one of spec.otherTargets, which is empty.`},
		"no name": {func(s *v1beta1.LoadTestSpec) { s.Versus.Target = "" }, `spec.versus.target: "" is not the name of one of spec.otherTargets: v3.`},
		"a request that names it": {
			func(s *v1beta1.LoadTestSpec) { s.Requests[0].Target = "v3" },
			`spec.requests[0].target: must not be "v3", which versus compares with spec.target; remove it, or add the same address to spec.otherTargets under another name.`,
		},
		"a login that names it": {
			func(s *v1beta1.LoadTestSpec) {
				s.Target.Login = "shop"
				s.Logins = []v1beta1.Login{{Name: "shop", Type: v1beta1.LoginClientCredentials, SecretName: "shop", Target: "v3", Path: "/token"}}
			},
			`spec.logins[0].target: must not be "v3", which versus compares with spec.target; remove it, or add the same address to spec.otherTargets under another name.`,
		},
		"another that is not named": {func(s *v1beta1.LoadTestSpec) {
			s.OtherTargets = append(s.OtherTargets, v1beta1.OtherTarget{Name: "v2", URL: "http://v2"})
		}, "spec.otherTargets[v2]: no request, login or versus names it; set target: v2 in one of them, or remove it."},
		"a baseline": {func(s *v1beta1.LoadTestSpec) { s.Baseline = &v1beta1.Baseline{Name: "before"} }, "spec.versus: must not be set with baseline, search or audits."},
		"more steps than a status holds": {
			func(s *v1beta1.LoadTestSpec) { s.Repetitions = 32 },
			"spec.repetitions: 32 repetitions of 7 steps and the rests between them, for both targets, are 255 steps, pauses included; at most 128 are possible: lower repetitions to 16, or use fewer steps.",
		},
		"a value that is none in a question": {func(s *v1beta1.LoadTestSpec) {
			s.Versus.Preflight = yamlSpec(t, "preflight: [{expect: {json: [{path: .a}, {path: .b, equals: {}}]}}]").Preflight
		}, "spec.versus.preflight[0].expect.json[1].equals: must be a string, a number, true, false or null; name a value inside an object or a list by path."},
	} {
		same.As(t, name+": refusal", tc.want, refusalOf(loadTest(versus(rungs(true, 10, 100), tc.change)), policy.Rules{}))
	}
	same.As(t, "refusal of 16 repetitions", "", refusalOf(loadTest(versus(repeated(16, rungs(true, 10, 100)))), policy.Rules{}))
}

// Workers have a target, requests and questions for each side, and each step says which.
func TestAssignmentOfBothSides(t *testing.T) {
	header := func(name, value string) v1beta1.Header { return v1beta1.Header{Name: name, Value: &value} }
	s := versus(repeated(3, rungs(false, 10)), func(s *v1beta1.LoadTestSpec) {
		s.Target.Headers = []v1beta1.Header{header("Host", "four")}
		s.OtherTargets[0].Headers = []v1beta1.Header{header("Host", "three"), {Name: "Key", ValueFrom: &v1beta1.HeaderSource{Secret: v1beta1.KeyReference{Name: "v3", Key: "token"}}}}
		s.OtherTargets[0].Protocol = v1beta1.ProtocolHTTP2
		s.Preflight = []v1beta1.Preflight{{Name: "is v4"}}
	})
	lt := accepted(t, s)
	a := plan.Assignments(lt)[0]
	c := a.GetControl()
	if got := []string{a.GetTarget().GetUrl(), c.GetTarget().GetUrl()}; !slices.Equal(got, []string{"http://shortener-v4.demo.svc:80", "http://shortener-v3.demo.svc:80"}) {
		t.Errorf("targets %s", got)
	}
	if c.GetTarget().GetProtocol() == a.GetTarget().GetProtocol() || len(c.GetRequests()) != len(a.GetRequests()) {
		t.Errorf("the control is %v", c)
	}
	if got := a.GetRequests()[0].GetHeaders(); len(got) != 1 || got[0].GetValue() != "four" {
		t.Errorf("headers of the candidate: %v", got)
	}
	if got := c.GetRequests()[0].GetHeaders(); len(got) != 2 || got[0].GetValue() != "three" || got[1].GetValueFile() == "" {
		t.Errorf("headers of the control: %v", got)
	}
	if got := c.GetPreflight(); len(got) != 1 || got[0].GetName() != "is v4" || got[0].GetHeaders()[0].GetValue() != "three" {
		t.Errorf("questions to the control: %v", got)
	}
	for i, step := range a.GetSteps() {
		if want := lt.Status.Steps[i].Side == v1beta1.SideControl; step.GetToControl() != want || int(step.GetIndex()) != i {
			t.Errorf("step %d is of the control: %t, want %t", i, step.GetToControl(), want)
		}
	}
	if files := plan.Files(s); !slices.Contains(files, plan.File{Kind: plan.InSecret, Name: "v3", Key: "token"}) {
		t.Errorf("files %v lack the Secret of the control", files)
	}
	s.Versus.Preflight = []v1beta1.Preflight{{Name: "is v3"}}
	if got := plan.Assignments(accepted(t, s))[0].GetControl().GetPreflight(); len(got) != 1 || got[0].GetName() != "is v3" {
		t.Errorf("questions to the control alone: %v", got)
	}
}

// What says how requests are measured is that of spec.target for both; what says where they go, and
// how, is each target's own.
func TestControlIsMeasuredAsTheTargetIs(t *testing.T) {
	s := versus(rungs(false, 10), func(s *v1beta1.LoadTestSpec) {
		s.Target.Protocol, s.Target.HTTP2 = v1beta1.ProtocolHTTP2, &v1beta1.HTTP2{Connections: ptr(int32(3)), StreamsPerConnection: ptr(int32(5))}
		s.Target.Timeout, s.Target.Trace = duration(7*time.Second), &v1beta1.Trace{Sampled: "1%"}
		s.Target.GRPC = &v1beta1.TargetGRPC{DescriptorsFrom: &v1beta1.Content{ConfigMap: &v1beta1.KeyReference{Name: "protos", Key: "shop.binpb"}}}
		s.OtherTargets[0].Protocol = v1beta1.ProtocolHTTP2
	})
	a := plan.Assignments(accepted(t, s))[0]
	want, got := proto.CloneOf(a.GetTarget()), proto.CloneOf(a.GetControl().GetTarget())
	if want.GetTimeoutNanos() != 7e9 || want.GetTraceSampled() == 0 || want.GetDescriptorsFile() == "" || want.GetHttp2Connections() != 3 || want.GetUrl() == got.GetUrl() {
		t.Fatalf("the target is %v", want)
	}
	want.Url, got.Url = "", ""
	if !proto.Equal(want, got) {
		t.Errorf("the control is %v, want %v", got, want)
	}
	for name, change := range map[string]func(*v1beta1.OtherTarget){
		"another protocol":                  func(o *v1beta1.OtherTarget) { o.Protocol = v1beta1.ProtocolHTTP1 },
		"no protocol, which is HTTP/1.1":    func(o *v1beta1.OtherTarget) { o.Protocol = "" },
		"a connection for each request":     func(o *v1beta1.OtherTarget) { o.DisableKeepAlive = true },
		"a proxy, whose connections it has": func(o *v1beta1.OtherTarget) { o.Proxy = &v1beta1.Proxy{URL: "http://proxy:3128"} },
	} {
		of := s.DeepCopy()
		change(&of.OtherTargets[0])
		if c := of.Control(); c.HTTP2 != nil || c.Timeout != s.Target.Timeout && c.Timeout.Duration != 7*time.Second || c.Trace == nil {
			t.Errorf("%s: the control is %+v, want one that shares no connections", name, c)
		}
	}
}

// The control takes no part in what requests name: others are numbered without it, wherever it stands.
func TestOtherTargetsAreNumberedWithoutTheControl(t *testing.T) {
	s := withIdentity()
	control := v1beta1.OtherTarget{Name: "v3", URL: "http://v3:8080", Login: "old"}
	s.OtherTargets = []v1beta1.OtherTarget{control, s.OtherTargets[0]}
	s.Versus = &v1beta1.Versus{Target: "v3"}
	s.Logins = []v1beta1.Login{{Name: "old", Type: v1beta1.LoginClientCredentials, SecretName: "old", Target: "identity", Path: "/token"}}
	lt := accepted(t, s)
	identity := "http://keycloak." + lt.Namespace + ".svc:80"
	same.As(t, "status", []v1beta1.OtherTargetStatus{{Name: "identity", TargetURL: identity}}, lt.Status.OtherTargets)
	same.As(t, "URLs", plan.URLs{Target: lt.Status.TargetURL, Control: "http://v3:8080", Others: []string{identity}}, plan.KnownURLs(lt))
	lt.Status.Internal.ControlAccess = &v1beta1.TargetAccess{Name: "v3."}
	lt.Status.Internal.OtherAccess = []v1beta1.TargetAccess{{Name: "keycloak."}}
	a := plan.Assignments(lt)[0]
	if len(a.GetOtherTargets()) != 1 || a.GetOtherTargets()[0].GetUrl() != identity || a.GetOtherTargets()[0].GetName() != "keycloak." || a.GetControl().GetTarget().GetName() != "v3." {
		t.Errorf("other targets %v, control %v", a.GetOtherTargets(), a.GetControl().GetTarget())
	}
	for side, requests := range map[string][]*workerv1.Request{"candidate": a.GetRequests(), "control": a.GetControl().GetRequests()} {
		if cart, token := requests[0], requests[1]; cart.GetTarget() != 0 || token.GetTarget() != 1 || token.GetTimeoutNanos() != 3e9 || token.GetHeaders()[0].GetName() != "X-Realm" {
			t.Errorf("requests of the %s are %v and %v, want the second to the other target", side, cart, token)
		}
	}
	if got := a.GetControl().GetRequests()[0].GetHeaders(); len(got) != 1 || got[0].GetLogin() != 1 {
		t.Errorf("headers of the control are %v, want those of its login", got)
	}
	same.As(t, "target that issues tokens", 1, a.GetLogins()[0].GetOauth2().GetTarget())
	s.Logins[0] = v1beta1.Login{Name: "old", Type: v1beta1.LoginAWSSigV4, SecretName: "old", AWS: &v1beta1.AWSSignature{Region: "a", Service: "b"}}
	s.Preflight = []v1beta1.Preflight{{GRPCHealth: &v1beta1.GRPCHealth{}}}
	const want = "spec.otherTargets[v3].login: AWSSigV4 signs requests of HTTP alone, and calls of gRPC go there, too; use another login."
	same.As(t, "refusal", want, refusalOf(loadTest(s), policy.Everything()))
}

// A comparison of two targets is sent as a run of one is: by vegeta, too.
func TestVegetaSendsToBothSides(t *testing.T) {
	s := versus(rungs(false, 10), func(s *v1beta1.LoadTestSpec) { s.Worker = &v1beta1.Worker{Driver: v1beta1.DriverVegeta} })
	if a := plan.Assignments(accepted(t, s))[0]; len(a.GetOtherTargets()) != 0 || a.GetControl() == nil {
		t.Errorf("other targets %v, control %v", a.GetOtherTargets(), a.GetControl())
	}
}
