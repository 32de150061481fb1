package flux

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
)

// repository is the root of it, as a test runs in its package's folder.
const repository = "../../.."

// TestKstatusFollowsTheRun: a wait of Flux goes on until a run has finished, ends well when it has passed,
// and fails at once after every other verdict.
func TestKstatusFollowsTheRun(t *testing.T) {
	had := map[status.Status]bool{}
	for name, o := range statuses(t) {
		t.Run(name, func(t *testing.T) {
			got := compute(t, o)
			had[got.Status] = true
			want := status.InProgressStatus
			switch verdict, _, _ := unstructured.NestedString(o.Object, "status", "verdict"); verdict {
			case "":
			case "Passed":
				want = status.CurrentStatus
			default:
				want = status.FailedStatus
			}
			if got.Status != want {
				t.Errorf("it is %s (%s), want %s", got.Status, got.Message, want)
			}
			t.Attr("seen", string(got.Status)+": "+got.Message)
		})
	}
	for _, s := range []status.Status{status.InProgressStatus, status.CurrentStatus, status.FailedStatus} {
		if !had[s] {
			t.Errorf("no status is %s", s)
		}
	}
}

// TestKstatusOfAnotherGeneration: a verdict is that of the generation that it was made for,
// and an object that the operator has not seen is not ready.
func TestKstatusOfAnotherGeneration(t *testing.T) {
	all := statuses(t)
	all["as it is created"] = object(t, "{apiVersion: loadtest.dev/v1beta1, kind: LoadTest, metadata: {name: new}, spec: {}, status: {observedGeneration: -1}}")
	for name, o := range all {
		o.SetGeneration(o.GetGeneration() + 1)
		got := compute(t, o)
		if got.Status != status.InProgressStatus {
			t.Errorf("%s: it is %s: %s", name, got.Status, got.Message)
		}
		t.Attr("seen", string(got.Status)+": "+got.Message)
	}
}

func compute(t *testing.T, o *unstructured.Unstructured) *status.Result {
	t.Helper()
	got, err := status.Compute(o)
	must.Succeed(t, err)
	return got
}

// statuses are LoadTests as our operator wrote them, in the stories of its tests.
func statuses(t *testing.T) map[string]*unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(repository, "controllers/loadtest/lifecycle/testdata/statuses.yaml"))
	must.Succeed(t, err)
	all := map[string]*unstructured.Unstructured{}
	for _, text := range bytes.Split(bytes.TrimPrefix(content, []byte("---\n")), []byte("\n---\n")) {
		first, _, _ := strings.Cut(string(text), "\n")
		all[strings.TrimPrefix(first, "# ")] = object(t, string(text))
	}
	if len(all) < 30 {
		t.Fatalf("only %d statuses", len(all))
	}
	return all
}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	must.Succeed(t, err)
	o := &unstructured.Unstructured{}
	must.Succeed(t, o.UnmarshalJSON(raw))
	return o
}

// TestKstatusOfSchedules: Flux waits for a schedule that may become well by itself, and fails
// at once for one whose spec must change.
func TestKstatusOfSchedules(t *testing.T) {
	const problem = "observedGeneration: 2, conditions: [{type: Ready, status: 'False', reason: R, message: m}"
	for name, test := range map[string]struct {
		status string
		want   status.Status
	}{
		"not seen":               {"observedGeneration: -1", status.InProgressStatus},
		"another generation":     {"observedGeneration: 1, conditions: [{type: Ready, status: 'True', reason: Ready, message: m}]", status.InProgressStatus},
		"it starts LoadTests":    {"observedGeneration: 2, conditions: [{type: Ready, status: 'True', reason: Ready, message: m}]", status.CurrentStatus},
		"its spec must change":   {problem + ", {type: Stalled, status: 'True', reason: R, message: m}]", status.FailedStatus},
		"it waits for something": {problem + "]", status.InProgressStatus},
	} {
		t.Run(name, func(t *testing.T) {
			got := compute(t, object(t, "{apiVersion: loadtest.dev/v1beta1, kind: LoadTestSchedule, metadata: {name: nightly, generation: 2}, spec: {}, status: {"+test.status+"}}"))
			if got.Status != test.want {
				t.Errorf("it is %s (%s), want %s", got.Status, got.Message, test.want)
			}
			t.Attr("seen", string(got.Status)+": "+got.Message)
		})
	}
}
