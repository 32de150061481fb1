package local_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/local"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/progress"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/certs"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/fault"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/pressure"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const asWorker = "local-worker"

// pidsFolder is the name of the variable that names the folder in which workers leave a
// file of the name of their process.
const pidsFolder = "TEST_WORKERS"

// TestMain makes this program a worker if it was started as one.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == asWorker {
		if folder := os.Getenv(pidsFolder); folder != "" {
			_ = os.WriteFile(filepath.Join(folder, strconv.Itoa(os.Getpid())), nil, 0o600)
		}
		if local.Worker(context.Background(), os.Stdin, "test", slog.New(slog.NewTextHandler(os.Stderr, nil))) != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(excuses.Run(m.Run))
}

// target counts what it is asked.
type target struct {
	*httptest.Server
	asked atomic.Int64

	mu   sync.Mutex
	seen map[string]int
}

// path describes a request to a target by its path.
func path(r *http.Request) string { return r.URL.Path }

// newTarget starts a target that describes each request to seen by key.
func newTarget(t *testing.T, key func(*http.Request) string) *target {
	t.Helper()
	s := &target{seen: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		if key != nil {
			s.mu.Lock()
			s.seen[key(r)]++
			s.mu.Unlock()
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// loadTest reads a spec; TARGET in it is the target's URL.
func loadTest(t *testing.T, target, spec string) *v1beta1.LoadTest {
	t.Helper()
	lt := &v1beta1.LoadTest{}
	must.Succeed(t, yaml.UnmarshalStrict([]byte("spec: "+strings.ReplaceAll(spec, "TARGET", target)), lt))
	lt.Namespace, lt.Name, lt.UID, lt.Generation = "local", "test", "a-uid", 1
	lt.Status.Phase = v1beta1.PhasePending // as the schema has it by default
	seconds := int64(300)
	lt.Spec.StartDeadlineSeconds = &seconds
	return lt
}

func config(t *testing.T) local.Config {
	t.Helper()
	program, err := os.Executable()
	must.Succeed(t, err)
	meter := pressure.Start()
	machine.Store(&meter)
	return local.Config{
		Files: &local.Objects{}, Command: []string{program, asWorker},
		Show: func(lt *v1beta1.LoadTest) {
			if why := progress.Waiting(lt); strings.Contains(why, "operator") {
				t.Errorf("it shows %q, and there is no operator here", why)
			}
		}, Say: func(s string) { t.Log(s) },
	}
}

const burst = "{target: {url: TARGET}, requests: [{name: home, http: {path: /}}], parallelism: 2, steps: [{name: burst, users: 10, requestsPerUser: 5}, {name: again, users: 4, requestsPerUser: 2}]}"

// machine says how busy it was since the latest run was configured.
var machine atomic.Pointer[pressure.Meter]

// excuses are the verdicts of this package's runs that were excused.
var excuses pressure.Excuses

// passes checks that a run has passed, or was hindered on a machine that says itself that it
// was busy.
func passes(t *testing.T, lt *v1beta1.LoadTest) {
	t.Helper()
	if lt.Status.Verdict == v1beta1.VerdictPassed {
		excuses.Right()
		return
	}
	if said := machine.Load().Read(); !excuses.Takes(t.Name(), fault.IsHindered(&lt.Status), said) {
		t.Errorf("verdict %s, want Passed (%s): %+v", lt.Status.Verdict, said, lt.Status.Conditions)
	}
}

// isCarriedOut checks the same of a run whose counts are what is tested, not its verdict: however often it is hindered, the
// tests say something.
func isCarriedOut(t *testing.T, lt *v1beta1.LoadTest) {
	t.Helper()
	said := machine.Load().Read()
	excused := said.Busy() && fault.IsHindered(&lt.Status)
	if lt.Status.Verdict != v1beta1.VerdictPassed && !excused {
		t.Errorf("verdict %s, want Passed (%s): %+v", lt.Status.Verdict, said, lt.Status.Conditions)
	}
}

// carryOut runs a LoadTest on this machine.
func carryOut(t *testing.T, lt *v1beta1.LoadTest, c local.Config) *v1beta1.LoadTest {
	t.Helper()
	got, err := local.Run(t.Context(), lt, c)
	must.Succeed(t, err)
	return got
}

func TestRunCountsWhatTheTargetServed(t *testing.T) {
	s := newTarget(t, nil)
	got := carryOut(t, loadTest(t, s.URL, burst), config(t))
	passes(t, got)
	if n := got.Status.Workers.Desired; n != 2 {
		t.Errorf("%d workers, want 2", n)
	}
	if fault.BeganLate(&got.Status) {
		return // what was sent in such a step is not stored
	}
	sent := []int64{got.Status.Steps[0].Result.Sent, got.Status.Steps[1].Result.Sent}
	if diff := cmp.Diff([]int64{50, 8}, sent); diff != "" || s.asked.Load() != 58 {
		t.Errorf("the target served %d requests, want 58; sent by step (-want +got):\n%s", s.asked.Load(), diff)
	}
}

// What is measured until the end is asked for is kept, to the request.
func TestTerminateKeepsWhatWasMeasured(t *testing.T) {
	s := newTarget(t, nil)
	end, c := make(chan struct{}), config(t)
	c.Terminate = end
	var once sync.Once
	c.Show = func(lt *v1beta1.LoadTest) {
		if steps := lt.Status.Steps; len(steps) > 0 && steps[0].Result != nil && steps[0].Result.Sent > 0 {
			once.Do(func() { close(end) })
		}
	}
	lt := loadTest(t, s.URL, "{target: {url: TARGET}, requests: [{name: home, http: {path: /}}], steps: [{name: long, users: 2, duration: 10m}]}")
	got := carryOut(t, lt, c)
	step := got.Status.Steps[0]
	if got.Status.Verdict != v1beta1.VerdictCanceled || step.State != v1beta1.StepCut || step.Result == nil || step.Result.Sent != s.asked.Load() {
		t.Errorf("verdict %s, step %+v, want Canceled and the step cut with the %d requests that the target served", got.Status.Verdict, step, s.asked.Load())
	}
	if lt.Spec.Terminate {
		t.Error("the LoadTest of the caller was changed")
	}
}

// Nothing sends load once the run is given up.
func TestGivingUpEndsTheWorkers(t *testing.T) {
	s, folder := newTarget(t, nil), t.TempDir()
	t.Setenv(pidsFolder, folder)
	ctx, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	c := config(t)
	c.Show = func(*v1beta1.LoadTest) {
		if s.asked.Load() > 0 {
			giveUp()
		}
	}
	lt := loadTest(t, s.URL, "{target: {url: TARGET}, requests: [{name: home, http: {path: /}}], parallelism: 2, steps: [{name: long, users: 2, duration: 10m}]}")
	if _, err := local.Run(ctx, lt, c); err == nil {
		t.Fatal("a run that was given up has a result")
	}
	workers, err := os.ReadDir(folder)
	if err != nil || len(workers) != 2 {
		t.Fatalf("%d workers left a file, want 2: %v", len(workers), err)
	}
	for _, w := range workers {
		pid, err := strconv.Atoi(w.Name())
		must.Succeed(t, err)
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process %d of a worker is still there: %v", pid, err)
		}
	}
}

func TestWorkerThatEndsIsLost(t *testing.T) {
	s := newTarget(t, nil)
	c := config(t)
	// A program that is no worker: it ends before it says anything.
	c.Command = []string{c.Command[0], "-test.run=^$", "-test.v=false"}
	got := carryOut(t, loadTest(t, s.URL, burst), c)
	failed := v1beta1.NotCarriedOut(got.Status.Conditions)
	if got.Status.Verdict != v1beta1.VerdictError || failed == nil || failed.Reason != v1beta1.ReasonWorkerLost {
		t.Errorf("verdict %s, condition %+v, want Error because of WorkerLost", got.Status.Verdict, failed)
	}
}

func TestProgramThatCannotBeStartedIsAnError(t *testing.T) {
	s := newTarget(t, nil)
	c := config(t)
	c.Command = []string{"/does/not/exist"}
	_, err := local.Run(t.Context(), loadTest(t, s.URL, burst), c)
	must.Say(t, err, "start worker 0")
}

// An orphan would send load that nothing counts.
func TestWorkerEndsWithTheProcessThatStartedIt(t *testing.T) {
	words := `{"coordinator": "127.0.0.1:1", "ca": "` + strings.ReplaceAll(testCA(t), "\n", `\n`) + `", "run": "r", "tokenFile": "/none"}`
	stdin, invitation := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- local.Worker(t.Context(), stdin, "test", slog.New(slog.DiscardHandler)) }()
	if _, err := io.WriteString(invitation, words); err != nil {
		t.Fatal(err)
	}
	must.Succeed(t, invitation.Close())
	select {
	case err := <-ended:
		must.Say(t, err, "has ended")
	case <-time.After(time.Minute):
		t.Error("the worker runs on")
	}
}

// TestFilesOfObjectsAreSent has a file in each place that a spec can name one in.
func TestFilesOfObjectsAreSent(t *testing.T) {
	s := newTarget(t, func(r *http.Request) string {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		return r.Header.Get("Authorization") + " " + string(body) + " " + r.URL.Path
	})
	c := config(t)
	for _, text := range []string{
		"{apiVersion: v1, kind: Secret, metadata: {name: api}, stringData: {token: s3cret}}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: files}, data: {body: hello, rows.csv: \"name\\nann\\n\"}}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: files, namespace: other}, data: {body: of another namespace}}",
	} {
		must.Succeed(t, c.Files.Add(object(t, text)))
	}
	lt := loadTest(t, s.URL, `{target: {url: TARGET, headers: [{name: Authorization, valueFrom: {prefix: "Bearer ", secret: {name: api, key: token}}}]},
  data: [{name: people, format: CSV, from: {configMap: {name: files, key: rows.csv}}}],
  requests: [{name: create, http: {method: POST, path: "/${name}", bodyFrom: {configMap: {name: files, key: body}}}}], steps: [{name: burst, users: 1, requestsPerUser: 3}]}`)
	got := carryOut(t, lt, c)
	isCarriedOut(t, got)
	same.As(t, "requests", map[string]int{"Bearer s3cret hello /ann": 3}, s.seen)
}

// A folder stands for a volume.
func TestFilesOfAClaimAreRead(t *testing.T) {
	s := newTarget(t, func(r *http.Request) string { return r.URL.Path })
	c, folder := config(t), t.TempDir()
	must.Succeed(t, os.MkdirAll(filepath.Join(folder, "rows"), 0o700))
	must.Succeed(t, os.WriteFile(filepath.Join(folder, "rows", "people.csv"), []byte("name\nann\n"), 0o600))
	c.Files.SetClaims(map[string]string{"loadtest-rows": folder})
	lt := loadTest(t, s.URL, `{target: {url: TARGET}, data: [{name: people, format: CSV, from: {volume: {claim: loadtest-rows, path: rows/people.csv}}}],
  requests: [{name: home, http: {path: "/${name}"}}], steps: [{name: burst, users: 1, requestsPerUser: 3}]}`)
	got := carryOut(t, lt, c)
	isCarriedOut(t, got)
	same.As(t, "requests", map[string]int{"/ann": 3}, s.seen)
	lt.Spec.Data[0].From.Volume.Path = "rows/missing.csv"
	_, err := local.Run(t.Context(), lt, c)
	must.Say(t, err, "file rows/missing.csv of PersistentVolumeClaim loadtest-rows: folder "+folder+" has no such file")
}

func TestWhatCannotRunHereIsRefused(t *testing.T) {
	for name, tt := range map[string]struct{ spec, want string }{
		"a Secret that is not there": {
			spec: "{target: {url: TARGET, headers: [{name: A, valueFrom: {secret: {name: api, key: token}}}]}, requests: [{name: home, http: {path: /}}]}",
			want: "LoadTest test needs key token of Secret api, which does not exist: put it into the file, or into a folder that --with names",
		},
		"a volume for which no folder stands": {
			spec: "{target: {url: TARGET}, requests: [{name: home, http: {path: /}}], data: [{name: a, format: CSV, from: {volume: {claim: loadtest-rows, path: a.csv}}}]}",
			want: "LoadTest test needs file a.csv of PersistentVolumeClaim loadtest-rows, and there are no volumes on this machine: name a folder in its place with --claim loadtest-rows=FOLDER",
		},
		"a run that is compared": {
			spec: "{target: {url: TARGET}, requests: [{name: home, http: {path: /}}], baseline: {name: before}}",
			want: "LoadTest test: spec.baseline is a LoadTest of a cluster, which a run on this machine does not read; give a saved one with --baseline FILE, or set spec.baseline.optional to true",
		},
		"a run that is held": {spec: "{target: {url: TARGET}, requests: [{name: home, http: {path: /}}], suspend: true}",
			want: "LoadTest test: spec.suspend is true, but nothing can resume a run on this machine; set it to false"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := local.Run(t.Context(), loadTest(t, "http://127.0.0.1:1", tt.spec), config(t))
			if err == nil || err.Error() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

func TestServicesAreDirected(t *testing.T) {
	lt := loadTest(t, "", "{target: {service: {name: shortener, port: http, scheme: HTTPS}}, requests: [{name: home, http: {path: /}}]}")
	must.Say(t, (local.Services{}).Direct(lt.DeepCopy()), "--service shortener=127.0.0.1:8080")
	must.Succeed(t, (local.Services{"shortener": "127.0.0.1:8443"}).Direct(lt))
	if lt.Spec.Target.Service != nil || lt.Spec.Target.URL != "https://127.0.0.1:8443" {
		t.Errorf("target %+v, want the address by https", lt.Spec.Target)
	}
	both := loadTest(t, "", "{target: {service: {name: v4}}, otherTargets: [{name: v3, service: {name: shortener-v3}}], versus: {target: v3}, requests: [{name: home, http: {path: /}}]}")
	err := (local.Services{"v4": "127.0.0.1:1"}).Direct(both.DeepCopy())
	if want := "spec.otherTargets[v3].service: there is no cluster here to find Service shortener-v3 in"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
	must.Succeed(t, (local.Services{"v4": "127.0.0.1:1", "shortener-v3": "127.0.0.1:2"}).Direct(both))
	if c := both.Spec.Control(); c == nil || c.URL != "http://127.0.0.1:2" || c.Service != nil || both.Spec.Versus.Target != "v3" {
		t.Errorf("control %+v, want the address, and its name", c)
	}
	for _, address := range []string{"8080", ":8080", "127.0.0.1:", ""} {
		if (local.Services{"shortener": address}).Check() == nil {
			t.Errorf("%q is taken for host and port", address)
		}
	}
}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	must.Succeed(t, yaml.Unmarshal([]byte(text), &o.Object))
	return o
}

func testCA(t *testing.T) string {
	t.Helper()
	pair, err := certs.Generate(time.Now())
	must.Succeed(t, err)
	return string(pair.CA)
}

// A search sends its workers each step that it appends.
func TestSearchGoesOnAfterItsFirstProbe(t *testing.T) {
	s := newTarget(t, nil)
	got := carryOut(t, loadTest(t, s.URL, "{target: {url: TARGET}, requests: [{name: home, http: {path: /}}], search: {rate: {min: 5, max: 10}, duration: 1s, rest: 0s, hold: 1s}}"), config(t))
	sent := int64(0) // without the hold, if a starved generator did not carry the second probe out
	for i, step := range got.Status.Steps {
		if step.Result == nil || step.Result.Sent == 0 {
			t.Fatalf("step %d has sent nothing: %+v", i, step)
		}
		sent += step.Result.Sent
	}
	if n := len(got.Status.Steps); n < 2 || sent != s.asked.Load() {
		t.Errorf("%d steps, search %+v; %d sent, the target was asked %d times", n, got.Status.Search, sent, s.asked.Load())
	}
}
