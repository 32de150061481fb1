package v1beta1_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// TestTheSmallestLoadTestGetsTheDefaults sends the smallest LoadTest and says all that comes back.
func TestTheSmallestLoadTestGetsTheDefaults(t *testing.T) {
	object := loadTest(t, apiserver.Namespace(t), `{
		target: {url: null, service: {name: shortener}},
		preflight: [{http: {}}],
		requests: [{name: create, http: {}, expect: {}}],
		data: [{name: a, from: {configMap: {name: rows, key: a.csv}}, format: CSV}],
		setup: {fill: {request: create, count: 1}},
		steps: null, ladder: {users: [1], duration: 1s},
		thresholds: [{metric: p95, max: 1s}]
	}`)
	c := strictClient(t)
	must.Succeed(t, c.Create(t.Context(), object))
	var got v1beta1.LoadTest
	must.Succeed(t, c.Get(t.Context(), client.ObjectKeyFromObject(object), &got))
	want := v1beta1.LoadTestSpec{
		Target: v1beta1.Target{
			Service:  &v1beta1.ServiceReference{Name: "shortener"},
			Protocol: v1beta1.ProtocolHTTP1,
			Timeout:  &metav1.Duration{Duration: 30 * time.Second},
		},
		Preflight: []v1beta1.Preflight{{HTTP: &v1beta1.Query{}}},
		Requests:  []v1beta1.Request{{Name: "create", HTTP: &v1beta1.HTTPRequest{}, Expect: &v1beta1.Expectation{}}},
		Data: []v1beta1.Data{{
			Name: "a", From: v1beta1.Content{ConfigMap: &v1beta1.KeyReference{Name: "rows", Key: "a.csv"}},
			Format: v1beta1.DataFormatCSV,
		}},
		Setup:                &v1beta1.Setup{Fill: &v1beta1.Fill{Request: "create", Count: 1, Choice: v1beta1.DataChoiceUniform}},
		Ladder:               &v1beta1.Ladder{Users: []int32{1}, Duration: metav1.Duration{Duration: time.Second}},
		Repetitions:          1,
		Thresholds:           []v1beta1.Threshold{{Metric: "p95", Max: new(intstr.Parse("1s"))}},
		StartDeadlineSeconds: new(int64(300)),
		Expose:               v1beta1.ExposeNone,
	}
	same.As(t, "spec with defaults", want, got.Spec)
}

// listed are the LoadTests of TestKubectlPrintsTheColumns, as their statuses say.
var listed = map[string]v1beta1.LoadTestStatus{
	"fresh": {}, // the operator has not seen it yet
	"limiter-hash": {
		Phase: v1beta1.PhaseFinished, Verdict: v1beta1.VerdictFailed, TargetURL: "http://shop:80",
		Summary: v1beta1.Summary{
			Step: "3/3", Workers: "4/4", Goodput: "2290/s", P95: "28ms", Errors: "0%", P99: "63ms", Unsent: "0.5%", Sustained: "400/s", Reason: "ThresholdBreached",
		},
	},
	"shortener-reads": {
		Phase:   v1beta1.PhaseRunning,
		Summary: v1beta1.Summary{Step: "3/6", Workers: "8/8", Goodput: "9998/s", P95: "41ms", Errors: "0%"},
	},
}

// columns is what kubectl get prints of them, without the age.
const columns = `
NAME              PHASE      STEP   WORKERS   GOODPUT   P95    ERRORS   VERDICT
fresh             Pending
limiter-hash      Finished   3/3    4/4       2290/s    28ms   0%       Failed
shortener-reads   Running    3/6    8/8       9998/s    41ms   0%
`

func TestKubectlPrintsTheColumns(t *testing.T) {
	namespace, c := apiserver.Namespace(t), apiserver.Client(t)
	for name, status := range listed {
		object := loadTest(t, namespace, "{}")
		object.SetName(name)
		must.Succeed(t, c.Create(t.Context(), object))
		var test v1beta1.LoadTest
		must.Succeed(t, c.Get(t.Context(), client.ObjectKeyFromObject(object), &test))
		test.Status = status
		must.Succeed(t, c.Status().Update(t.Context(), &test))
	}
	kubectl := apiserver.Kubectl(t)
	for _, name := range []string{"loadtests", "loadtest", "lt"} {
		output, err := kubectl("", "get", name, "--namespace", namespace)
		if err != nil {
			t.Errorf("kubectl get %s: %v: %s", name, err, output)
			continue
		}
		same.As(t, "kubectl get "+name, strings.TrimSpace(columns), withoutAge(t, output))
	}
	output, err := kubectl("", "get", "lt", "--namespace", namespace, "-o", "wide", "--field-selector", "status.verdict=Failed,status.phase=Finished")
	must.Succeed(t, err)
	lines := strings.Split(strings.TrimSpace(output), "\n")
	if len(lines) != 2 || !strings.HasSuffix(strings.Join(strings.Fields(lines[0]), " "), "AGE TARGET SUSTAINED P99 UNSENT REASON") ||
		!strings.Contains(lines[1], "http://shop:80   400/s       63ms   0.5%     ThresholdBreached") {
		t.Errorf("those that are Failed, in full:\n%s", output)
	}
}

// withoutAge cuts the last column off, which is different every second.
func withoutAge(t *testing.T, table string) string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(table), "\n")
	width := strings.Index(lines[0], "AGE")
	if width < 0 {
		t.Fatalf("the table has no column AGE: %s", table)
	}
	for i, line := range lines {
		if len(line) <= width {
			t.Errorf("the line %q has no age", line)
			continue
		}
		lines[i] = strings.TrimRight(line[:width], " ")
	}
	return strings.Join(lines, "\n")
}

// TestRefusalsAsPeopleReadThem is what the four commonest mistakes look like in
// a terminal.
func TestRefusalsAsPeopleReadThem(t *testing.T) {
	const head = `
apiVersion: loadtest.dev/v1beta1
kind: LoadTest
metadata: {name: wrong}
`
	tests := map[string]struct{ spec, want string }{
		"no URL": {
			spec: "{target: {}, requests: [{name: home, http: {}}], steps: [{name: 1 users, users: 1, duration: 1s}]}",
			want: `The LoadTest "wrong" is invalid: spec.target: Invalid value: exactly one of url and service must be set`,
		},
		"users 0": {
			spec: "{target: {url: http://a}, requests: [{name: home, http: {}}], ladder: {users: [0], duration: 1s}}",
			want: `The LoadTest "wrong" is invalid: spec.ladder.users[0]: Invalid value: 0: spec.ladder.users[0] in body should be greater than or equal to 1`,
		},
		"unknown metric": {
			spec: "{target: {url: http://a}, requests: [{name: home, http: {}}], ladder: {users: [1], duration: 1s}, thresholds: [{metric: latency, max: 1s}]}",
			want: `The LoadTest "wrong" is invalid: ` + unknownMetric,
		},
		"both ladder and steps": {
			spec: "{target: {url: http://a}, requests: [{name: home, http: {}}], ladder: {users: [1], duration: 1s}, steps: [{name: 1 users, users: 1, duration: 1s}]}",
			want: `The LoadTest "wrong" is invalid: spec: Invalid value: exactly one of ladder, steps, search, replay and loads must be set`,
		},
		"a misspelled field": {
			spec: "{target: {url: http://a}, requests: [{name: home, http: {}}], leader: {}}",
			want: `Error from server (BadRequest): error when creating "STDIN": LoadTest in version "v1beta1" cannot be handled as a LoadTest: strict decoding error: unknown field "spec.leader"`,
		},
	}
	kubectl, namespace := apiserver.Kubectl(t), apiserver.Namespace(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			output, err := kubectl(head+"spec: "+test.spec, "apply", "--namespace", namespace, "--filename", "-")
			if err == nil {
				t.Fatal("kubectl apply succeeds")
			}
			same.As(t, "kubectl apply", test.want, strings.TrimSpace(output))
		})
	}
}
