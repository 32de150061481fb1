package command_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// testHead is the beginning of a LoadTest, whose spec follows line by line.
const testHead = `apiVersion: loadtest.dev/v1beta1
kind: LoadTest
metadata: {name: hello}
spec:
`

const goodSpec = `  target: {service: {name: shortener}}
  requests: [{name: health, http: {path: /health}}]
  steps: [{name: 10 users, users: 10, duration: 5s}]
`

// mistake is a file, and what is said of it.
type mistake struct {
	content string
	want    []string
}

func wrong(content string, want ...string) mistake { return mistake{content, want} }

// replacing is a LoadTest with another text in the place of one of goodSpec.
func replacing(old, text string) string { return testHead + strings.Replace(goodSpec, old, text, 1) }

// adding is a LoadTest with more lines in its spec.
func adding(lines string) string { return testHead + goodSpec + "  " + lines + "\n" }

// Each problem names the file and the line, the object, the field, and the way out.
func TestValidateNamesFileObjectFieldAndRemedy(t *testing.T) {
	for name, tt := range map[string]mistake{
		"a field that is misspelled": wrong(replacing("duration", "duraton"), "a.yaml:7: LoadTest hello: spec.steps[0].duraton: unknown field; did you mean duration?"),
		"a field at the wrong place": wrong(adding("duration: 30s"),
			"a.yaml:8: LoadTest hello: spec.duration: unknown field; did you mean ladder.duration or replay.duration or search.duration or steps[].duration?"),
		"a field of metadata": wrong(strings.Replace(testHead, "{name: hello}", "{name: hello, lables: {a: b}}", 1)+goodSpec,
			"a.yaml:3: LoadTest hello: metadata.lables: unknown field"),
		"several at once, beside a rule": wrong(testHead+"  traget: {}\n"+goodSpec+"  ladder: {users: [1], duration: 1s}\n",
			"a.yaml:5: LoadTest hello: spec.traget: unknown field; did you mean target?",
			"LoadTest hello: spec: Invalid value: exactly one of ladder, steps, search, replay and loads must be set"),
		"a value of the wrong kind": wrong(replacing("users: 10", "users: ten"),
			"a.yaml:7: LoadTest hello: spec.steps[0].users: must be a whole number (users is the number of concurrent users, in total over all workers, each with a connection of its own)"),
		"a fraction without quotes": wrong(replacing("users: 10", "rate: 0.5"),
			`a.yaml:7: LoadTest hello: spec.steps[0].rate: must be a whole number, or a text; write "0.5", with quotes`),
		"names that YAML reads as something else": wrong(testHead+strings.NewReplacer("name: health", "name: no", "10 users,", "0x10,").Replace(goodSpec)+"  loads: [{name: y}]\n",
			`a.yaml:6: LoadTest hello: spec.requests[0].name: must be a text; write "no", with quotes (`,
			`spec.steps[0].name: must be a text; write "0x10", with quotes (`, `spec.loads[0].name: must be a text; write "y", with quotes (`),
		"headers that YAML reads as numbers": wrong(replacing("/health}", "/health, headers: [{name: A, value: &a 012}, {name: B, value: 1_000}, {name: C, value: *a}, {name: D, value: 1e3}]}"),
			`headers[0].value: must be a text; write "012", with quotes`, `headers[1].value: must be a text; write "1_000", with quotes`,
			`headers[2].value: must be a text; write "012", with quotes`, `headers[3].value: must be a text; write "1e3", with quotes`),
		"a rate with too many digits": wrong(replacing("users: 10", "rate: 1000000000"),
			`spec.steps[0].rate: Invalid value: 1000000000: must be a number from 0.000001 to 999999999, of up to 6 decimals: 12, or in quotes "0.5"`),
		"a number in quotes":          wrong(replacing("users: 10", `users: "10"`), "spec.steps[0].users: must be a whole number; write 10, without quotes"),
		"a time without a unit":       wrong(replacing("5s", "5"), "spec.steps[0].duration: must be a time with its unit; write 5s for 5 seconds"),
		"one item in place of a list": wrong(replacing("/health}", "/health}, expect: {status: 200}"), "spec.requests[0].expect.status: must be a list; write [200]"),
		"a path without its slash":    wrong(replacing("/health", "health"), `spec.requests[0].http.path: must begin with "/"; write /health`),
		"a place in JSON without its dot": wrong(adding("setup: {fill: {request: health, count: 1, capture: {t: token}}}"),
			`a.yaml:8: LoadTest hello: spec.setup.fill.capture.t: must begin with "."; write .token`),
		"a metric of another tool": wrong(adding("thresholds: [{metric: errorRate, max: 1%}]"), "overLimitGrants, falseDenials or Query; did you mean failureRate?"),
		"a metric by a part of its name": wrong(adding("thresholds: [{metric: unsent, max: 1%}, {metric: granted, max: 5}]"),
			"falseDenials or Query; did you mean unsentRate?", "falseDenials or Query; did you mean overLimitGrants?"),
		"a time of streams in other places, and by the names of other tools": wrong(adding("thresholds: [{metric: p95, of: FirstEvent, max: 1s}, {metric: p95, time: TTFT, max: 1s}]"),
			`thresholds[0].of: Unsupported value: "FirstEvent": supported values: "All", "Expected"; did you mean time: FirstEvent?`,
			`"LongestGap", "MeanGap"; did you mean time: FirstEvent?`),
		"a time of streams, and their events, as metrics": wrong(adding("thresholds: [{metric: tpot, max: 50ms}, {metric: tokens_per_second, min: 1}]"),
			"falseDenials or Query; did you mean a metric such as p95 with time: MeanGap?", "falseDenials or Query; did you mean eventsPerSecond?"),
		"a stream without its events": wrong(replacing("/health}", "/health, stream: {until: end}}"),
			"spec.requests[0].http.stream.events: Required value (events is what its events are"),
		"a stream that is only true": wrong(replacing("/health}", "/health, stream: true}"), "spec.requests[0].http.stream: must have fields: events"),
		"a threshold on streams that there are not": wrong(adding("thresholds: [{metric: p95, time: FirstEvent, max: 1s}]"),
			"spec.thresholds[0]: time FirstEvent is of streams, and no request that the threshold is about has one; set http.stream of the request, such as {events: SSE}"),
		"a list in place of an object": wrong(adding("setup: {fill: [{request: health, name: rows, count: 1}]}"),
			"a.yaml:8: LoadTest hello: spec.setup.fill: must not be a list; it has fields: count, request (fill sends a request many times"),
		"a time in place of a range": wrong(replacing("users: 10", "users: 10, think: 1s"),
			"a.yaml:7: LoadTest hello: spec.steps[0].think: must have min and max; write {min: 1s, max: 1s} for 1s each time ("),
		"a number of workers by other names": wrong(adding("workers: 2\n  worker: {count: 2}"),
			"spec.workers: unknown field; write spec.parallelism, which is how many workers", "spec.worker.count: unknown field; write spec.parallelism"),
		"a Service of another namespace": wrong(replacing("{name: shortener}", "{name: shortener, namespace: b}"),
			"spec.target.service.namespace: unknown field; a Service of another namespace is written as url: http://NAME.NAMESPACE.svc:PORT, in place of service"),
		"a question to another target": wrong(adding("preflight: [{http: {path: /}, target: a}]"),
			"spec.preflight[0].target: unknown field; preflight asks spec.target alone"),
		"a search with arrivals": wrong(testHead+strings.ReplaceAll(goodSpec, "steps: [", "steps: null\n  search: {arrivals: Poisson}\n  x-steps: ["),
			"spec.search.arrivals: unknown field; a search sends evenly"),
		"a share and a time as numbers": wrong(adding("thresholds: [{metric: unsentRate, max: 0.1}, {metric: p95, max: 0.3}, {metric: goodput, min: 0.5}, {metric: unsent, max: 0.5}]"),
			"thresholds[0].max: must be a whole number, or a text; write 0.1% for 0.1 percent", "thresholds[1].max: must be a whole number, or a text; write 0.3ms for 0.3 milliseconds",
			`thresholds[2].min: must be a whole number, or a text; write "0.5", with quotes`, `thresholds[3].max: must be a whole number, or a text; write "0.5", with quotes`),
		"rows without a format": wrong(adding("data: [{name: a, from: {secret: {name: a, key: b}}}]"),
			"spec.data[0].format: Required value (format is how the rows are written: CSV, with the names of the columns in the first line, or JSONLines, with an object in each line)"),
		"what belongs into http": wrong(replacing("http: {path: /health}", "path: /health, method: GET"),
			"spec.requests[0].path: unknown field; did you mean http.path or webSocket.path?", "spec.requests[0].method: unknown field; did you mean grpc.method or http.method?"),
		"what belongs beside http": wrong(replacing("/health}", "/health, expect: {status: [200]}}"),
			"spec.requests[0].http.expect: unknown field; did you mean spec.requests[0].expect?"),
		"a field among few": wrong(adding("audits: [{name: a, rateLimit: {key: a}}]"),
			"spec.audits[0].rateLimit.key: unknown field; the fields here are capacity, clientHeader, refillPerSecond"),
		"a column that the rows of the file lack": wrong("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: rows}\ndata: {users.csv: \"email,age\\na@b,7\"}\n---\n"+
			testHead+strings.Replace(goodSpec, "/health", `"/u/${emial}"`, 1)+"  data: [{name: users, format: CSV, from: {configMap: {name: rows, key: users.csv}}}]\n",
			"a.yaml:11: LoadTest hello: spec.requests[0].http.path: nothing defines ${emial}; did you mean ${email}?"),
		"a field that is missing": wrong(replacing("  target: {service: {name: shortener}}\n", ""),
			"a.yaml:4: LoadTest hello: spec.target: Required value (target is the service under test)"),
		"a rule of the API": wrong(replacing("service: {name: shortener}", `url: "ftp://a"`),
			`a.yaml:5: LoadTest hello: spec.target.url: Invalid value: "ftp://a": url must be http:// or https:// with a host`),
		"what only the operator refuses": wrong(replacing("users: 10,", `users: 1000000, ratePerUser: "999999999",`),
			"a.yaml:4: LoadTest hello: spec: the users of step 10 users send more than"),
		"a second document": wrong(testHead+goodSpec+"---\n# of no interest\n---\n"+strings.Replace(testHead, "hello", "second", 1)+strings.Replace(goodSpec, "path", "paht", 1),
			"a.yaml:16: LoadTest second: spec.requests[0].http.paht: unknown field; did you mean path?"),
		"an item of a list": wrong("apiVersion: v1\nkind: List\nitems:\n- "+strings.ReplaceAll(strings.TrimSpace(testHead+strings.Replace(goodSpec, "steps", "stepz", 1)), "\n", "\n  ")+"\n",
			"a.yaml:10: LoadTest hello: spec.stepz: unknown field; did you mean steps?"),
		"no name": wrong(strings.Replace(testHead, "{name: hello}", "{}", 1)+goodSpec, "a.yaml:3: LoadTest *: metadata.name: must be set, or metadata.generateName"),
		"another version of the API": wrong(strings.Replace(testHead, "v1beta1", "v2", 1)+goodSpec,
			"a.yaml:1: LoadTest hello: apiVersion: loadtest.dev/v2 is unknown here; it must be loadtest.dev/v1beta1"),
		"a key that a ConfigMap of the file lacks": wrong("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: rows}\ndata: {users.csv: id}\n---\n"+testHead+goodSpec+
			"  data: [{name: users, format: CSV, from: {configMap: {name: rows, key: user.csv}}}]\n",
			"LoadTest hello: spec: ConfigMap rows has no key user.csv, which the LoadTest names"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			must.Succeed(t, os.WriteFile("a.yaml", []byte(tt.content), 0o600))
			got := alone(t.Context(), t, "validate", "-f", "a.yaml")
			if strings.Contains(got.out, "fill[0]") {
				t.Errorf("what a list holds is refused beside the list:\n%s", got.out)
			}
			if got.code != 1 || strings.Contains(got.out, "LoadTest hello is valid") && len(tt.want) > 1 {
				t.Errorf("exit code %d, want 1; standard output:\n%s", got.code, got.out)
			}
			contains(t, "the output", got.err, tt.want...)
		})
	}
}

// What validate takes says what it will do; objects of other kinds are left aside.
func TestValidateTakesWhatKustomizeBuilds(t *testing.T) {
	for folder, want := range map[string]string{
		"../../../config/samples/seeds/001": " is valid: ",
		"../../../config/samples":           "LoadTest hello is valid: 3 steps, 1 worker, requests due: 33300, duration: 1m30s",
	} {
		built, err := apiserver.Kustomize(t.Context(), folder)
		must.Succeed(t, err)
		got := withInput(t, string(built), "validate", "-f", "-")
		if got.code != 0 || got.err != "" || !strings.Contains(got.out, want) {
			t.Errorf("%s: exit code %d, want 0 and …%s…:\n%s%s", folder, got.code, want, got.out, got.err)
		}
	}
}

// Every LoadTest of the samples is valid without a cluster.
func TestValidateTakesAllSamples(t *testing.T) {
	var args []string
	for _, pattern := range []string{"../../../config/samples/*.yaml", "../../../config/samples/seeds/*/*.yaml", "../../../config/samples/schedules/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			if filepath.Base(file) != "kustomization.yaml" {
				args = append(args, "-f", file)
			}
		}
	}
	got := alone(t.Context(), t, append([]string{"validate"}, args...)...)
	if got.code != 0 || strings.Count(got.out, " is valid: ") < len(args)/2 {
		t.Errorf("exit code %d, %d files:\n%s%s", got.code, len(args)/2, got.out, got.err)
	}
}

// A schedule is checked by its own definition, and its template as a LoadTest is.
func TestValidateSaysWhichKindIsMistaken(t *testing.T) {
	file := write(t, "a.yaml", testHead+goodSpec+"---\n"+strings.Replace(testHead, "LoadTest", "Loadtest", 1)+goodSpec+"---\n"+strings.Replace(testHead, "loadtest.dev", "loadtests.dev", 1)+goodSpec+
		"---\napiVersion: e2etest.grpc.io/v1\nkind: LoadTest\nmetadata: {name: other}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: other}\n")
	for _, command := range []string{"validate", "plan"} {
		got := alone(t.Context(), t, command, "-f", file)
		contains(t, command, got.err, "a.yaml:9: Loadtest hello: there is no kind Loadtest of loadtest.dev/v1beta1; did you mean LoadTest of loadtest.dev/v1beta1?",
			"a.yaml:17: LoadTest hello: there is no kind LoadTest of loadtests.dev/v1beta1; did you mean LoadTest of loadtest.dev/v1beta1?")
		if got.code != 1 || strings.Contains(got.err, "other") {
			t.Errorf("%s: exit code %d:\n%s", command, got.code, got.err)
		}
	}
}

func TestValidateChecksSchedules(t *testing.T) {
	const head = "apiVersion: loadtest.dev/v1beta1\nkind: LoadTestSchedule\nmetadata: {name: nightly}\nspec:\n  schedule: '0 3 * * *'\n  template:\n    spec:\n"
	spec := strings.ReplaceAll(strings.TrimPrefix(goodSpec, "spec:\n"), "\n  ", "\n      ")
	good := head + "    " + spec
	for name, tt := range map[string]struct{ content, want string }{
		"good":                       {good, "LoadTestSchedule nightly is valid: 1 step"},
		"a field of its own":         {strings.Replace(good, "schedule: ", "schedul: ", 1), "a.yaml:5: LoadTestSchedule nightly: spec.schedul: unknown field; did you mean schedule?"},
		"a field of the template":    {strings.Replace(good, "duration", "duraton", 1), "spec.template.spec.steps[0].duraton: unknown field; did you mean duration?"},
		"a rule of the template":     {strings.Replace(good, "users: 10", "rate: 10, users: 10", 1), "spec.template.spec.steps[0]: Invalid value: exactly one of users, rate and pause must be set; a step without load has pause: 10s in place of a duration"},
		"a variable of the template": {strings.Replace(good, "/health", `"/${code}"`, 1), "spec.template.spec.requests[0].http.path: nothing defines ${code}"},
		"what the operator refuses":  {strings.Replace(good, "users: 10,", `users: 1000000, ratePerUser: "999999999",`, 1), "spec.template.spec: the users of step"},
		"another version":            {strings.Replace(good, "v1beta1", "v1alpha1", 1), "apiVersion: loadtest.dev/v1alpha1 is unknown here; it must be loadtest.dev/v1beta1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			must.Succeed(t, os.WriteFile("a.yaml", []byte(tt.content), 0o600))
			got := alone(t.Context(), t, "validate", "-f", "a.yaml")
			if !strings.Contains(got.out+got.err, tt.want) || (got.code == 0) != (name == "good") {
				t.Errorf("exit code %d, it does not say %q:\n%s%s", got.code, tt.want, got.out, got.err)
			}
		})
	}
}

// A host that is no Service is a warning while the policy is not known, and refused when
// it is and does not allow it.
func TestValidateEnforcesThePolicyThatItKnows(t *testing.T) {
	file := write(t, "a.yaml", testHead+strings.Replace(goodSpec, "service: {name: shortener}", `url: "https://api.example.com"`, 1))
	wrong := write(t, "wrong.yaml", `targets: {rules: [{hosts: ["a b"]}]}`)
	for name, tt := range map[string]struct {
		args []string
		code int
		want string
	}{
		"not known":       {nil, 0, "warning: " + file + ":5: LoadTest hello: spec.target.url: host api.example.com is not allowed"},
		"allowed":         {configured(t, `targets: {rules: [{hosts: ["*.example.com"]}]}`), 0, ""},
		"another allowed": {configured(t, "targets: {rules: [{hosts: [a.example.com]}]}"), 1, file + ":5: LoadTest hello: spec.target.url: host api.example.com is not allowed"},
		"none allowed":    {configured(t, ""), 1, file + ":5: LoadTest hello: spec.target.url: host api.example.com is not allowed"},
		"no pattern":      {[]string{"--config", wrong}, 4, "error: --config " + wrong + `: targets.rules[0].hosts: "a b"`},
		"another team's":  {configured(t, `targets: {rules: [{namespaces: [team-b], hosts: ["*"]}]}`), 1, file + ":5: LoadTest hello: spec.target.url: host api.example.com is not allowed"},
		"no file":         {[]string{"--config", "/does/not/exist"}, 4, "error: --config: open /does/not/exist"},
	} {
		t.Run(name, func(t *testing.T) {
			got := alone(t.Context(), t, append([]string{"validate", "-f", file}, tt.args...)...)
			if got.code != tt.code || !strings.HasPrefix(got.err, tt.want) || tt.want == "" && got.err != "" {
				t.Errorf("exit code %d and %q, want %d and %q…", got.code, got.err, tt.code, tt.want)
			}
		})
	}
}

// configured are the arguments that give an operator's configuration.
func configured(t *testing.T, config string) []string {
	t.Helper()
	return []string{"--config", write(t, "config.yaml", config)}
}

// allHosts is a file with the configuration that allows every host.
func allHosts(t *testing.T) string {
	t.Helper()
	return configured(t, `targets: {rules: [{hosts: ["*"]}]}`)[1]
}

func TestValidateSaysWhatItCannotRead(t *testing.T) {
	for name, tt := range map[string]struct{ file, want string }{
		"no file":     {"/does/not/exist.yaml", "error: -f /does/not/exist.yaml: "},
		"no LoadTest": {write(t, "a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"), "holds no LoadTest"},
		"no YAML":     {write(t, "b.yaml", testHead+goodSpec+"---\na: [\n"), "document 2: yaml: line 9"},
		"no object":   {write(t, "c.yaml", "- a\n"), "document 1: is not a Kubernetes object"},
	} {
		t.Run(name, func(t *testing.T) { alone(t.Context(), t, "validate", "-f", tt.file).fails(t, tt.want) })
	}
}

// withInput runs a command without a cluster, with a standard input.
func withInput(t *testing.T, input string, args ...string) answer {
	t.Helper()
	return execute(context.Background(), input, args...)
}

func TestAQueryWithoutQuotesIsExplained(t *testing.T) {
	t.Parallel()
	file := write(t, "a.yaml", "# nothing\n---\n"+testHead+strings.Replace(goodSpec, "/health", "/health?limit=20", 1))
	got := newTestUser(t).run("validate", "-f", file)
	contains(t, "the error", got.err, `document 2: line 8: /health?limit=20 needs quotes within { }, for its question mark; write path: "/health?limit=20" (yaml: `)
}
