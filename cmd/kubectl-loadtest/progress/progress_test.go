package progress_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/progress"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const spec = `
metadata: {name: burst-then-steady, namespace: limiter}
spec:
  target: {service: {name: ratelimiter}}
  requests: [{name: api, http: {path: /api}}]
  steps:
    - {name: burst, users: 30, requestsPerUser: 4}
    - {name: refill, pause: 500ms}
    - {name: steady, rate: "5", duration: 1m30s, warmUp: 10s}
`

// The step statuses of a run that is in its first, second or third step.
const (
	users  = `load: {users: 30, requestsPerUser: 4, maxDuration: 2m5s, requests: 120}`
	refill = `load: {pause: 500ms}`
	rate   = `load: {rate: "5", arrivals: Even, warmUp: 10s, duration: 1m30s, requests: 450}`

	first  = `{name: burst, ` + users + `, state: Running, startTime: "2026-11-20T10:15:10.000000Z"}`
	soon   = `{name: burst, ` + users + `, state: Running}`
	over   = `{name: burst, ` + users + `, state: Complete, startTime: "2026-11-20T10:15:10.000000Z"}`
	half   = `{name: refill, ` + refill + `, state: Running, startTime: "2026-11-20T10:15:20.150000Z"}`
	second = `{name: refill, ` + refill + `, state: Running, startTime: "2026-11-20T10:15:10.000000Z"}`
	third  = `{name: steady, ` + rate + `, state: Running, startTime: "2026-11-20T10:15:10.000000Z"}`
	ahead  = `{name: steady, ` + rate + `, state: Running, startTime: "2026-11-20T10:15:59.000000Z"}`
	begun  = `{name: steady, ` + rate + `, state: Running, startTime: "2026-11-20T10:15:20.000000Z"}`
	next   = `{name: steady, ` + rate + `, state: Pending}`
	other  = `{name: any, state: Complete}`
)

// now is 10.4 s after the start of the step that runs.
var now = time.Date(2026, 11, 20, 10, 15, 20, 400_000_000, time.UTC)

// tests are runs, of which a line says the head and the figures, and a block has the figures in a line below the head,
// behind the bar.
var tests = map[string]struct{ status, head, bar, figures string }{
	"no status": {`{}`, "Pending", "", "waiting for the operator"},
	"loads side by side": {
		`{phase: Running, summary: {step: 2/4 loads, workers: 3/4}, loads: [{name: readers, phase: Finished, verdict: Passed}, {name: buyers, phase: Running, beginTime: "2026-11-20T10:15:10.000000Z"},
			{name: late, phase: Starting}, {name: noise, phase: Finished, verdict: Inconclusive, ended: true}, {name: more}]}`,
		"Running  readers: Passed  buyers: Running  late: waits  noise: ended  more: not created", "", "workers 3/4",
	},
	"streams": {
		`{phase: Running, currentStep: 0, summary: {step: 1/2, goodput: 10/s, p95: 2.1s, errors: 0%, workers: 1/1}, steps: [{name: steady, ` + rate + `, state: Running, startTime: "2026-11-20T10:15:10.000000Z",
			result: {streams: {events: 9, firstEvent: {samples: 30, p50: 198ms, p95: 413ms}}}}, ` + next + `]}`,
		"Running  step 1/2  steady: 5/s", "━━╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌  10s/1m40s", "goodput 10/s  p95 2.1s  first event p95 413ms  errors 0%  workers 1/1",
	},
	"suspended": {`{phase: Suspended}`, "Suspended", "", "held by spec.suspend"},
	"suspended by the administrator": {
		`{phase: Suspended, conditions: [{type: Suspended, status: "True", reason: Stopped, message: "No run begins: stopped by jane."}]}`,
		"Suspended", "", "No run begins: stopped by jane.",
	},
	"queued": {
		`{phase: Queued, summary: {step: place 3 of 7}, conditions: [{type: Queued, status: "True", message: "Place 3 of 7: 10 runs go on, which is the most at once."}]}`,
		"Queued", "", "Place 3 of 7: 10 runs go on, which is the most at once.",
	},
	"queued, nothing known":   {`{phase: Queued}`, "Queued", "", "waiting in the queue"},
	"a search that begins":    {`{phase: Starting, summary: {step: "0", workers: 0/3}}`, "Starting", "", "workers 0/3  workers start"},
	"starting, nothing known": {`{phase: Starting, summary: {step: 0/2, workers: 0/3}}`, "Starting", "", "workers 0/3  workers start"},
	"starting, hindered": {
		`{phase: Starting, conditions: [{type: WorkersReady, status: "False", message: "2 of 3 workers: no node has 8 CPUs."}]}`,
		"Starting", "", "2 of 3 workers: no node has 8 CPUs.",
	},
	"starting, all ready":  {`{phase: Starting, conditions: [{type: WorkersReady, status: "True", message: "3 of 3 workers."}]}`, "Starting", "", "waiting to begin"},
	"suspended in mid-run": {`{phase: Suspended, currentStep: 0, steps: [` + first + `, ` + other + `, ` + other + `]}`, "Suspended", "", "held by spec.suspend"},
	"a step whose start is not known yet": {
		`{phase: Running, currentStep: 0, steps: [` + soon + `, ` + other + `, ` + other + `]}`,
		"Running  burst: 30 users x 4", "", "",
	},
	"a step that is over before the next is current": {
		`{phase: Running, currentStep: 0, steps: [` + over + `, ` + other + `, ` + other + `]}`,
		"Running  burst: 30 users x 4", "", "",
	},
	"a short pause, by half": {
		`{phase: Running, currentStep: 1, steps: [` + other + `, ` + half + `, ` + other + `]}`,
		"Running  refill: pause 500ms", "━━━━━━━━━━╌╌╌╌╌╌╌╌╌╌  200ms/500ms", "",
	},
	"a burst, whose end is not known": {
		`{phase: Running, currentStep: 0, summary: {step: 1/2, workers: 3/3}, steps: [` + first + `, ` + other + `, ` + other + `]}`,
		"Running  step 1/2  burst: 30 users x 4", "10s", "workers 3/3",
	},
	"a pause that is over": {
		`{phase: Running, currentStep: 1, summary: {step: 1/2}, steps: [` + other + `, ` + second + `, ` + other + `]}`,
		"Running  step 1/2 done  refill: pause 500ms", "━━━━━━━━━━━━━━━━━━━━  500ms/500ms", "",
	},
	"a step under way": {
		`{phase: Running, currentStep: 2, summary: {step: 2/2, workers: 2/3, goodput: 4.9/s, p95: 41ms, errors: 0.03%}, steps: [` + other + `, ` + other + `, ` + third + `]}`,
		"Running  step 2/2  steady: 5/s", "━━╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌  10s/1m40s", "goodput 4.9/s  p95 41ms  errors 0.03%  workers 2/3",
	},
	"a step that begins in a moment": {
		`{phase: Running, currentStep: 2, summary: {step: 2/2}, steps: [` + other + `, ` + other + `, ` + ahead + `]}`,
		"Running  step 2/2  steady: 5/s", "╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌  0s/1m40s", "",
	},
	"a step that has just begun": {
		`{phase: Running, currentStep: 2, summary: {step: 2/2}, steps: [` + other + `, ` + other + `, ` + begun + `]}`,
		"Running  step 2/2  steady: 5/s", "╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌  0s/1m40s", "",
	},
	"held between two steps":            {`{phase: Running, currentStep: 2, steps: [` + other + `, ` + other + `, ` + next + `]}`, "Running  steady: 5/s", "", ""},
	"steps that the spec does not have": {`{phase: Running, currentStep: 0, steps: [` + first + `]}`, "Running  burst: 30 users x 4", "10s", ""},
	"a current step out of range":       {`{phase: Running, currentStep: 7, steps: [` + first + `]}`, "Running", "", ""},
	"a current step behind the last":    {`{phase: Running, currentStep: 1, steps: [` + first + `]}`, "Running", "", ""},
	"finished, before the phase shows it": {
		`{phase: Running, verdict: Canceled, currentStep: 0, summary: {step: 1/2, workers: 3/3, goodput: 5/s},
			conditions: [{type: Finished, status: "True"}], steps: [` + first + `, ` + other + `, ` + other + `]}`,
		"Canceled  step 1/2", "", "goodput 5/s",
	},
	"finished": {
		`{phase: Finished, verdict: Failed, currentStep: 2, summary: {step: 2/2, workers: 3/3, goodput: 5/s, p95: 3.1ms, errors: 0%},
			conditions: [{type: Finished, status: "True"}], steps: [` + other + `, ` + other + `, ` + other + `]}`,
		"Failed  step 2/2", "", "goodput 5/s  p95 3.1ms  errors 0%",
	},
}

func TestLineAndBlock(t *testing.T) {
	const run = "limiter/burst-then-steady  "
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			lt := loadTest(t, test.status)
			below := strings.TrimSpace(test.bar + "  " + test.figures)
			if below != "" {
				below = "  " + below
			}
			same.As(t, "Line()", strings.TrimSpace(run+test.head+"  "+test.figures), progress.Line(lt))
			same.As(t, "Block()", []string{run + test.head, below}, progress.Block(lt, now, 200))
		})
	}
}

// TestBlockFits: a line that is wider than the terminal wraps, and can then not
// be written over.
func TestBlockFits(t *testing.T) {
	for name, test := range tests {
		lt := loadTest(t, test.status)
		for width := 1; width < 100; width++ {
			whole, got := progress.Block(lt, now, 1000), progress.Block(lt, now, width)
			if len(got) != len(whole) {
				t.Fatalf("%s: %d lines at width %d, %d at 1000", name, len(got), width, len(whole))
			}
			for i, line := range got {
				if n := utf8.RuneCountInString(line); n > width {
					t.Errorf("%s: a line of %d characters at width %d: %q", name, n, width, line)
				}
				if line != whole[i] && !strings.HasSuffix(line, "…") {
					t.Errorf("%s: a line was cut at width %d without saying so: %q", name, width, line)
				}
				if n, all := utf8.RuneCountInString(line), utf8.RuneCountInString(whole[i]); n != min(all, width) {
					t.Errorf("%s: %d characters of %d at width %d: %q", name, n, all, width, line)
				}
			}
		}
	}
}

// TestLineOmitsElapsedTime: in a log a line is written when it changes.
func TestLineOmitsElapsedTime(t *testing.T) {
	lt := loadTest(t, tests["a step under way"].status)
	block := progress.Block(lt, now, 200)
	if diff := cmp.Diff(block, progress.Block(lt, now.Add(20*time.Second), 200)); diff == "" {
		t.Error("a block is the same 20 s later, want the elapsed time in it")
	}
	if strings.Contains(progress.Line(lt), "10s") {
		t.Errorf("Line() = %q, want no elapsed time in it", progress.Line(lt))
	}
}

func TestFinished(t *testing.T) {
	for status, want := range map[string]bool{
		`{}`:                                 false,
		`{phase: Finished, verdict: Passed}`: false, // conditions decide, the rest is for people
		`{conditions: [{type: Finished, status: "True"}]}`:  true,
		`{conditions: [{type: Finished, status: Unknown}]}`: false,
	} {
		if got := progress.Finished(loadTest(t, status)); got != want {
			t.Errorf("Finished(%s) = %t, want %t", status, got, want)
		}
	}
}

func loadTest(t *testing.T, status string) *v1beta1.LoadTest {
	t.Helper()
	lt := &v1beta1.LoadTest{}
	for _, part := range []string{spec, "status: " + status} {
		if err := yaml.UnmarshalStrict([]byte(part), lt); err != nil {
			t.Fatalf("%v in %s", err, part)
		}
	}
	return lt
}
