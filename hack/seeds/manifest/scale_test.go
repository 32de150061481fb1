package manifest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/hack/seeds/manifest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var tenth = manifest.Factor{
	Load: 10, Time: 5, Shortest: metav1.Duration{Duration: 5 * time.Second}, Rest: metav1.Duration{Duration: 2 * time.Second}, Repetitions: 1,
}

func TestLoadsTimesAndBoundsAreScaled(t *testing.T) {
	tests := map[string]struct{ spec, want string }{
		"a ladder, its bounds and its workers": {
			`{suspend: true, ladder: {users: [1, 20, 25000], ratePerUser: 33, duration: 60s, warmUp: 5s, rest: 30s}, parallelism: 12,
			thresholds: [{metric: throughput, min: 1095}, {metric: p99, upToUsers: 1000, max: 100ms}, {metric: failureRate, max: 50%}]}`,
			`{ladder: {users: [1, 2, 2500], ratePerUser: 33, duration: 12s, warmUp: 2s, rest: 6s}, parallelism: 2,
			thresholds: [{metric: throughput, min: "109.5"}, {metric: p99, upToUsers: 100, max: 100ms}, {metric: failureRate, max: 50%}]}`,
		},
		"steps": {
			`{steps: [{name: many, users: 50, duration: 5m}, {name: rest, pause: 5s}, {name: fall, rate: 15, rampTo: "0.5", duration: 10s}, {name: few, users: 3, duration: 2s}], thresholds: [{metric: itemsPerSecond, min: 11000}]}`,
			`{steps: [{name: many, users: 5, duration: 1m}, {name: rest, pause: 2s}, {name: fall, rate: "1.5", rampTo: "0.05", duration: 5s}, {name: few, users: 1, duration: 2s}], thresholds: [{metric: itemsPerSecond, min: "1100"}]}`,
		},
		"rates of a ladder":       {`{ladder: {rates: [5, 1000], duration: 30s}}`, `{ladder: {rates: ["0.5", "100"], duration: 6s}}`},
		"the requests of a burst": {`{steps: [{name: burst, users: 30, requestsPerUser: 4}]}`, `{steps: [{name: burst, users: 3, requestsPerUser: 4}]}`},
		"what fills the target":   {`{setup: {fill: {request: a, count: 1000}, warmUp: {request: a, duration: 10s}}}`, `{setup: {fill: {request: a, count: 1000}, warmUp: {request: a, duration: 10s}}}`},
		"a rate limit stays whole": {
			`{suspend: true, steps: [{name: pause 6s, pause: 6s}, {name: 50 users x 4, users: 50, requestsPerUser: 4}, {name: 5/s, rate: 5, duration: 3s}], audits: [{name: a, rateLimit: {capacity: 50, refillPerSecond: 10, clientHeader: C}}], parallelism: 3}`,
			`{steps: [{name: pause 6s, pause: 6s}, {name: 50 users x 4, users: 50, requestsPerUser: 4}, {name: 5/s, rate: 5, duration: 3s}], audits: [{name: a, rateLimit: {capacity: 50, refillPerSecond: 10, clientHeader: C}}], parallelism: 3}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := manifest.Scale(&parse(t, test.spec).LoadTests[0], tenth)
			want := parse(t, test.want).LoadTests[0]
			want.Spec.Repetitions = max(1, want.Spec.Repetitions)
			same.As(t, "scaled", text(t, want.Spec), text(t, got.Spec))
		})
	}
}

// Every repetition begins after a pause. What a sample repeats more often stays so.
func TestStepsAreRepeated(t *testing.T) {
	thrice := tenth
	thrice.Repetitions = 3
	const limited = "audits: [{name: a, rateLimit: {capacity: 50, refillPerSecond: 10, clientHeader: C}}]"
	for spec, want := range map[string]string{
		`{steps: [{name: a, users: 10, duration: 5s}]}`:                                                                  `{steps: [{name: settle, pause: 2s}, {name: a, users: 1, duration: 5s}], repetitions: 3}`,
		`{repetitions: 10, steps: [{name: fill, pause: 6s}, {name: a, users: 10, requestsPerUser: 4}], ` + limited + `}`: `{repetitions: 10, steps: [{name: fill, pause: 6s}, {name: a, users: 10, requestsPerUser: 4}], ` + limited + `}`,
		`{steps: [{name: fill, pause: 6s}, {name: a, users: 10, requestsPerUser: 4}], ` + limited + `}`:                  `{repetitions: 3, steps: [{name: fill, pause: 6s}, {name: a, users: 10, requestsPerUser: 4}], ` + limited + `}`,
	} {
		got := manifest.Scale(&parse(t, spec).LoadTests[0], thrice)
		same.As(t, spec, text(t, parse(t, want).LoadTests[0].Spec), text(t, got.Spec))
	}
}

func TestScaleLeavesTheOriginal(t *testing.T) {
	m := parse(t, `{ladder: {users: [100], duration: 30s}, parallelism: 20}`)
	before := text(t, m.LoadTests[0])
	manifest.Scale(&m.LoadTests[0], tenth)
	if diff := cmp.Diff(before, text(t, m.LoadTests[0])); diff != "" {
		t.Errorf("the original changed (-before +after):\n%s", diff)
	}
}

// The length is that of the steps, as often as they run, and of what is around them.
func TestLengthIsThatOfAllSteps(t *testing.T) {
	length := func(spec string) time.Duration { return manifest.Length(&parse(t, spec).LoadTests[0]) }
	none := length(`{}`)
	for spec, want := range map[string]time.Duration{
		`{ladder: {users: [10, 100], duration: 6s, warmUp: 1s, rest: 2s}}`:                                                             2*8*time.Second + 2*time.Second,
		`{ladder: {users: [10, 100], duration: 6s, rest: 2s}, repetitions: 5}`:                                                         10*7*time.Second + 9*2*time.Second,
		`{steps: [{name: pause 6s, pause: 6s}, {name: 5 users, users: 5, duration: 5s}], setup: {warmUp: {request: a, duration: 2s}}}`: 14 * time.Second,
		`{steps: [{name: 5 users, users: 5, duration: 5s}], repetitions: 5}`:                                                           30 * time.Second,
	} {
		same.As(t, spec+" takes", want, length(spec)-none)
	}
	if audited := length(`{audits: [{name: a, stored: {value: .a, requests: [a], read: {http: {}}}}]}`); audited <= none {
		t.Errorf("an audit takes no time: %s", audited-none)
	}
	if heavy, light := length(`{ladder: {users: [2500], duration: 6s}}`), length(`{ladder: {users: [100], duration: 6s}}`); heavy <= light {
		t.Errorf("a rung that is too much drains in no time: %s", heavy-light)
	}
}

func TestLoadTestsAreApartFromWhatTheyNeed(t *testing.T) {
	m, err := manifest.Parse([]byte("---\nkind: ConfigMap\nmetadata: {name: a}\n---\n# nothing\n---\nkind: LoadTest\nmetadata: {name: b}\n"))
	if err != nil || len(m.Others) != 1 || !strings.Contains(string(m.Others[0]), "name: a") {
		t.Fatalf("Parse() = %+v, %v", m, err)
	}
	if lt, err := m.Named("b"); err != nil || lt.Name != "b" {
		t.Errorf("Named(b) = %v, %v", lt, err)
	}
	if _, err := m.Named("c"); err == nil || err.Error() != "there is no LoadTest c" {
		t.Errorf("Named(c): %v", err)
	}
	for _, broken := range []string{"kind: [", "kind: LoadTest\nspec: {stepps: []}"} {
		if _, err := manifest.Parse([]byte(broken)); err == nil {
			t.Errorf("Parse(%q) took it", broken)
		}
	}
}

func parse(t *testing.T, spec string) *manifest.Manifest {
	t.Helper()
	m, err := manifest.Parse([]byte("kind: LoadTest\nmetadata: {name: a}\nspec: " + spec))
	must.Succeed(t, err)
	return m
}

func text(t *testing.T, of any) string {
	t.Helper()
	out, err := yaml.Marshal(of)
	must.Succeed(t, err)
	return string(out)
}
