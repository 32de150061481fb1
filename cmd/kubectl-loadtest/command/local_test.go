package command_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/command"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/fault"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/pressure"
)

// alone runs a command without a cluster to talk to.
func alone(ctx context.Context, t *testing.T, args ...string) answer {
	t.Helper()
	return execute(ctx, "", args...)
}

// execute runs a command with a standard input.
func execute(ctx context.Context, input string, args ...string) answer {
	var out, log bytes.Buffer
	machine := pressure.Start()
	code := command.Execute(ctx, args, command.Streams{In: strings.NewReader(input), Out: &out, Err: &log})
	return answer{code: code, out: out.String(), err: log.String(), machine: machine.Read()}
}

// answering starts a target that answers with a status, and counts.
func answering(t *testing.T, status int) (url string, asked *atomic.Int64) {
	t.Helper()
	asked = &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(status)
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Succeed(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// localTest is a LoadTest of twenty requests.
func localTest(target string) string {
	return "apiVersion: loadtest.dev/v1beta1\nkind: LoadTest\nmetadata: {name: hello}\n" +
		"spec: {target: {" + target + "}, requests: [{name: home, http: {path: /}}], steps: [{name: burst, users: 5, requestsPerUser: 4}]}\n"
}

// runLocal runs a LoadTest on this machine. What it leaves is what it prints: the report is made
// of that, and returned in place of it.
func runLocal(t *testing.T, args ...string) (answer, *v1beta1.LoadTest) {
	t.Helper()
	got := alone(t.Context(), t, append([]string{"run", "--local", "-o", "yaml"}, args...)...)
	lt := &v1beta1.LoadTest{}
	if err := yaml.UnmarshalStrict([]byte(got.out), lt); err != nil || lt.Status.Verdict == "" {
		t.Fatalf("what was printed is no LoadTest that ran: %v\n%s\n%s", err, got.out, got.err)
	}
	got.out = alone(t.Context(), t, "report", "-f", write(t, "saved.yaml", got.out)).out
	return got, lt
}

// judged checks the verdict of a run on this machine, or that it was hindered on a machine that
// says itself that it was busy; and the exit code. A run that must fail has no excuse.
func judged(t *testing.T, got answer, lt *v1beta1.LoadTest, want v1beta1.Verdict) {
	t.Helper()
	v := lt.Status.Verdict
	if v == want {
		excuses.Right()
	} else if want == v1beta1.VerdictFailed || !excuses.Takes(t.Name(), fault.IsHindered(&lt.Status), got.machine) {
		t.Errorf("verdict %s, want %s (%s); %s%s", v, want, got.machine, got.out, got.err)
	}
	codes := map[v1beta1.Verdict]int{v1beta1.VerdictPassed: 0, v1beta1.VerdictFailed: 1, v1beta1.VerdictInconclusive: 2}
	if code, ok := codes[v]; !ok || got.code != code {
		t.Errorf("exit code %d of %s; standard error:\n%s", got.code, v, got.err)
	}
}

// A target that grants every request is Failed whenever these were sent: its contract allows half of them.
func TestLocalRunEndsWithTheVerdict(t *testing.T) {
	const contract = `, audits: [{name: contract, rateLimit: {capacity: 10, refillPerSecond: "0.001", clientHeader: X-Client}}], thresholds: [{metric: overLimitGrants, max: 0}]`
	for want, audits := range map[v1beta1.Verdict]string{v1beta1.VerdictPassed: "", v1beta1.VerdictFailed: contract} {
		t.Run(string(want), func(t *testing.T) {
			url, asked := answering(t, 200)
			test := strings.TrimSuffix(localTest("url: "+url+", headers: [{name: X-Client, value: me}]"), "}\n") + audits + "}\n"
			got, lt := runLocal(t, "-f", write(t, "a.yaml", test))
			judged(t, got, lt, want)
			if asked.Load() != 20 {
				t.Errorf("the target was asked %d times, want 20", asked.Load())
			}
			verdict := string(lt.Status.Verdict)
			contains(t, "the report", got.out, "LoadTest local/hello", "Verdict             "+verdict, "sent 20 (100%)")
			contains(t, "the log", got.err, "local/hello  "+verdict)
		})
	}
}

func TestLocalRunPrintsItsReport(t *testing.T) {
	url, _ := answering(t, 200)
	got := alone(t.Context(), t, "run", "--local", "-f", write(t, "a.yaml", localTest("url: "+url)))
	contains(t, "the report", got.out, "LoadTest local/hello", "Verdict             ", "sent 20 (100%)")
}

// The first interrupt ends the run with what was measured; what was to follow is not
// begun.
func TestInterruptKeepsWhatWasMeasured(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if asked.Add(1) == 100 {
			interrupt()
		}
	}))
	t.Cleanup(s.Close)
	long := strings.Replace(localTest("url: "+s.URL), "requestsPerUser: 4", "duration: 10m", 1)
	got := alone(ctx, t, "run", "--local", "-f", write(t, "a.yaml", long+"---\n"+long))
	if got.code != 3 || strings.Count(got.out, "LoadTest local/hello") != 1 {
		t.Errorf("exit code %d, want 3 after one report:\n%s%s", got.code, got.out, got.err)
	}
	contains(t, "the report", got.out, "Verdict             Canceled", "Requests            ")
	contains(t, "the log", got.err, "LoadTest local/hello was ended: interrupted\n", "LoadTest local/hello was not run: interrupted\n")
}

// onWrite calls a function when something is written.
type onWrite func()

func (f onWrite) Write(p []byte) (int, error) { f(); return len(p), nil }

// An interrupt after a run that passed must not pass for the LoadTests that were to follow.
func TestInterruptBetweenTwoRunsIsNoSuccess(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	url, asked := answering(t, 200)
	test := localTest("url: " + url)
	var log bytes.Buffer
	code := command.Execute(ctx, []string{"run", "--local", "-f", write(t, "a.yaml", test+"---\n"+strings.Replace(test, "hello", "after", 1))},
		command.Streams{Out: onWrite(interrupt), Err: &log})
	if code != 3 || asked.Load() != 20 {
		t.Errorf("exit code %d after %d requests, want 3 after the 20 of the first", code, asked.Load())
	}
	contains(t, "the log", log.String(), "LoadTest local/after was not run: interrupted\n")
}

func TestLocalRunRefuses(t *testing.T) {
	file := write(t, "a.yaml", localTest("service: {name: shortener}"))
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"a Service that nothing stands for": {
			args: []string{"--local", "-f", file},
			want: "LoadTest hello: spec.target.service: there is no cluster here to find Service shortener in; say where it listens with --service shortener=127.0.0.1:8080, or set spec.target.url",
		},
		"an address that is none": {args: []string{"--local", "-f", file, "--service", "shortener=8080"}, want: "--service shortener=8080: must be NAME=HOST:PORT"},
		"a system that is none":   {args: []string{"--local", "-f", file, "--serve", "redis"}, want: "--serve redis: must be one of ratelimiter, ratelimiter-racy, shortener, tokens"},
		"a flag for a cluster":    {args: []string{"--local", "-f", file, "--replace"}, want: "--replace has no meaning with --local"},
		"a flag for this machine": {args: []string{"-f", file, "--serve", "shortener"}, want: "--serve needs --local"},
		"a file without -f":       {args: []string{"--local", file}, want: "run takes files by -f, and "},
		"a limit below 0":         {args: []string{"--local", "-f", file, "--timeout", "-3s"}, want: `invalid argument "-3s" for "--timeout" flag: must not be negative`},
		"a form that is none":     {args: []string{"--local", "-f", file, "-o", "pdf"}, want: "--output must be one of text"},
		"a form of one step for several": {args: []string{"--local", "-f", write(t, "d.yaml", strings.Replace(localTest("url: http://127.0.0.1:1"), "steps: [", "steps: [{name: one, rate: 1, duration: 1s}, ", 1)), "-o", "hgrm"},
			want: "-o hgrm: LoadTest hello measures several steps, and this form holds one: use -o yaml > FILE, and then report -f FILE -o hgrm --step NAME"},
		"a folder that is missing": {args: []string{"--local", "-f", file, "--with", "/does/not/exist"}, want: "--with /does/not/exist: "},
		"what the API server does": {
			args: []string{"--local", "-f", write(t, "b.yaml", localTest("url: ftp://a"))},
			want: `LoadTest hello: LoadTest.loadtest.dev "hello" is invalid: spec.target.url: Invalid value: "ftp://a": url must be http:// or https:// with a host and without a path, such as http://shortener:8080`,
		},
		"responses in messages beside a Secret": {
			args: []string{"--local", "-f", write(t, "s.yaml", strings.Replace(localTest("url: http://127.0.0.1:1, headers: [{name: A, valueFrom: {secret: {name: s, key: k}}}]"), "spec: {", "spec: {expose: Responses, ", 1)+
				"---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {k: hush}\n")},
			want: "LoadTest hello: spec.expose: Responses is not allowed beside values of Secret s, which the target may send back, so that they stand in the report; remove spec.expose, or send values that are not secret",
		},
		"another kind": {
			args: []string{"--local", "-f", write(t, "c.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n")},
			want: "holds no LoadTest, but a Deployment of apps/v1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			alone(t.Context(), t, append([]string{"run"}, tt.args...)...).fails(t, tt.want)
		})
	}
}

// A Secret beside the LoadTest wins over one of the folder.
func TestLocalRunFindsSecrets(t *testing.T) {
	var token atomic.Value
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { token.Store(r.Header.Get("Token")) }))
	t.Cleanup(s.Close)
	test := localTest("url: " + s.URL + ", headers: [{name: Token, valueFrom: {secret: {name: api, key: token}}}]")
	secret := func(value string) string {
		return "apiVersion: v1\nkind: Secret\nmetadata: {name: api}\nstringData: {token: " + value + "}\n"
	}
	folder := filepath.Dir(write(t, "secret.yaml", secret("of-the-folder")+"---\nkind: Kustomization\napiVersion: kustomize.config.k8s.io/v1beta1\n"))
	for want, file := range map[string]string{"of-the-folder": test, "of-the-file": secret("of-the-file") + "---\n" + test} {
		got := alone(t.Context(), t, "run", "--local", "-f", write(t, "a.yaml", file), "--with", folder)
		if token.Load() != want {
			t.Errorf("exit code %d, token %v, want %s; standard error:\n%s", got.code, token.Load(), want, got.err)
		}
	}
}

// The same manifest runs against the system in this process, and its contract is audited.
func TestTryFindsTheFault(t *testing.T) {
	page := filepath.Join(t.TempDir(), "try.html")
	var got answer
	for range 5 { // a machine that has the worker begin late finds nothing
		got = alone(t.Context(), t, "try", "--serve", "ratelimiter-racy", "--html", page)
		if !strings.Contains(got.out, "a worker began the step ") {
			break
		}
	}
	contains(t, "the report", got.out, "The page for a browser: "+page)
	if html, err := os.ReadFile(page); err != nil || !bytes.Contains(html, []byte("overLimitGrants")) || !bytes.Contains(html, []byte("Rate over time")) {
		t.Errorf("the page does not say what was found: %v", err)
	}
	lines := strings.Split(strings.TrimSpace(got.out), "\n")
	if last := lines[len(lines)-1]; got.code != 1 || !strings.HasPrefix(last, "try: FAILED: overLimitGrants is ") {
		t.Errorf("exit code %d, last line %q; want 1 and try: FAILED", got.code, last)
	}
}

// The right system is not found at fault. It has passed, unless the machine was busy; the exit
// code and the last line agree on any.
func TestTryEndsWithTheVerdict(t *testing.T) {
	var out, log bytes.Buffer
	machine := pressure.Start()
	code, lt := command.Try(t.Context(), "ratelimiter", command.Streams{Out: &out, Err: &log})
	if lt == nil {
		t.Fatalf("nothing ran: %s", log.String())
	}
	got := answer{code: code, out: out.String(), err: log.String(), machine: machine.Read()}
	judged(t, got, lt, v1beta1.VerdictPassed)
	lines := strings.Split(strings.TrimSpace(got.out), "\n")
	if last, want := lines[len(lines)-1], "try: "+strings.ToUpper(string(lt.Status.Verdict))+": "; !strings.HasPrefix(last, want) {
		t.Errorf("last line %q, want %s", last, want)
	}
	for _, threshold := range []string{"overLimitGrants", "falseDenials"} {
		if strings.Contains(got.out, "Failed            "+threshold) {
			t.Errorf("%s is found at fault:\n%s", threshold, got.out)
		}
		if !fault.BeganLate(&lt.Status) { // which leaves nothing to judge
			contains(t, "the report", got.out, "Passed            "+threshold)
		}
	}
}
