package incluster

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func read(t *testing.T, file string) string {
	t.Helper()
	text := must.ReadFile(t, "testdata/"+file)
	return string(text)
}

func TestSummaryOfK6IsRead(t *testing.T) {
	got, err := fromK6(read(t, "k6.log"))
	must.Succeed(t, err)
	same.As(t, "said", Said{Sent: 2500, P99: []time.Duration{11390148}}, got)
	dropped := `time="x" level=warning msg="Insufficient VUs"` + "\n" +
		`summary {"http_reqs":{"values":{"count":7}},"http_req_failed":{"values":{"passes":2,"fails":5}},"dropped_iterations":{"values":{"count":3}}}` + "\n"
	other, err := fromK6(dropped)
	must.Succeed(t, err)
	same.As(t, "said by both", Said{Sent: 2507, Failed: 2, P99: []time.Duration{11390148, 0}, Words: []string{"dropped_iterations: 3"}}, got.and(other))
}

func TestLogOfLocustsMasterIsRead(t *testing.T) {
	got, err := fromLocust(read(t, "locust-killed.log"))
	must.Succeed(t, err)
	same.As(t, "said", Said{Sent: 4750, P99: []time.Duration{520 * time.Millisecond}, Words: []string{
		"locust.runners: Your selected spawn rate is very high (>100/worker), and this is known to sometimes cause issues. Do you really need to ramp up that fast?",
		"locust.runners: Sending spawn jobs of 500 users at 500.00 spawn rate to 2 ready workers",
		"locust.runners: Sending spawn jobs of 500 users at 500.00 spawn rate to 1 ready workers",
		`locust.runners: Spawning is complete and report waittime is expired, but not all reports received from workers: {"Steady": 250} (250 total users)`,
		"locust.runners: Worker 'locust-worker-jsm9h_33a9dc20e0e84cf6bef947abaa61896c' (index 0) quit. 0 workers ready.",
	}}, got)
}

// What a log lacks is an error, and never a zero that looks like a result.
func TestWhatCannotBeReadIsAnError(t *testing.T) {
	whole := read(t, "locust-killed.log")
	for name, log := range map[string]string{
		"empty":                        "",
		"no percentiles":               whole[:strings.Index(whole, "Response time percentiles")],
		"cut in the percentiles":       whole[:strings.LastIndex(whole, "Aggregated")],
		"another table":                strings.ReplaceAll(whole, "99%", "97%"),
		"no number in the percentiles": strings.ReplaceAll(whole, "    520 ", "    N/A "),
		"more than 64 bits":            strings.Replace(whole, "4750     0(", "99999999999999999999     0(", 2),
	} {
		if got, err := fromLocust(log); err == nil {
			t.Errorf("Locust, %s: read as %+v, want an error", name, got)
		}
	}
	for _, log := range []string{"", "summary", "summary {", "no summary {}"} {
		if got, err := fromK6(log); err == nil {
			t.Errorf("k6, %q: read as %+v, want an error", log, got)
		}
	}
}

func TestStatusOfALoadTestIsRead(t *testing.T) {
	lt := &v1beta1.LoadTest{}
	none := int64(0)
	result := &v1beta1.StepResult{Counts: v1beta1.Counts{Sent: 3644, Failed: 1, Outcomes: v1beta1.Outcomes{Success: 3643, Timeout: 1}}, Unsent: 9, ResponseTime: &v1beta1.Latency{P99: &metav1.Duration{Duration: time.Second}}}
	lt.Status.Verdict = v1beta1.VerdictInconclusive
	lt.Status.Summary.Reason = "WorkerLost"
	lt.Status.Workers.Lost = 1
	lt.Status.Conditions = []metav1.Condition{{Type: "WorkersReady", Reason: "WorkerLost", Message: "1 of 2 workers lost"}, {Type: "Valid", Reason: "Valid"}}
	lt.Status.Steps = []v1beta1.StepStatus{{Name: "steady", Message: "only 3644 came due", MissingAtMost: &none, Result: result}, {Name: "not begun"}}
	same.As(t, "said", Said{Sent: 3644, Failed: 1, P99: []time.Duration{time.Second}, Words: []string{
		`outcomes: {"success":3643,"timeout":1}`, "unsent: 9", "missingAtMost: 0", "step steady: only 3644 came due", "verdict: Inconclusive (WorkerLost)", "WorkersReady: 1 of 2 workers lost", "workers lost: 1",
	}}, fromOurs(lt))
}
