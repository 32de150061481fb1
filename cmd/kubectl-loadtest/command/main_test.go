package command_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/command"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/pressure"
)

// excuses are the verdicts of this package's runs that were excused.
var excuses pressure.Excuses

// withExcuses are the tests of this package, after which it says what was excused.
type withExcuses struct{ *testing.M }

func (w withExcuses) Run() int { return excuses.Run(w.M.Run) }

// TestMain makes this program a worker if a run on this machine started it as one.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "local-worker" {
		os.Exit(command.Execute(context.Background(), os.Args[1:], command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	}
	// A test that has a cluster names its kubeconfig.
	if err := os.Setenv("KUBECONFIG", "/does/not/exist"); err != nil {
		panic(err)
	}
	apiserver.Start(withExcuses{m})
}

// testUser runs commands, in a namespace of its own.
type testUser struct {
	t          *testing.T
	client     client.WithWatch
	namespace  string
	kubeconfig string
	// collected is how many LoadTests went only after all that belongs to them.
	collected atomic.Int32
}

func newTestUser(t *testing.T) *testUser {
	t.Helper()
	p := &testUser{t: t, client: apiserver.Client(t), namespace: apiserver.Namespace(t)}
	p.kubeconfig = writeKubeconfig(t, apiserver.Config(t).Host, p.namespace)
	return p
}

// writeKubeconfig writes a kubeconfig with the administrator's credentials for
// a host, whose context has a namespace.
func writeKubeconfig(t *testing.T, host, namespace string) string {
	t.Helper()
	rest := apiserver.Config(t)
	config := clientcmdapi.NewConfig()
	config.Clusters["test"] = &clientcmdapi.Cluster{Server: host, CertificateAuthorityData: rest.CAData}
	config.AuthInfos["admin"] = &clientcmdapi.AuthInfo{ClientCertificateData: rest.CertData, ClientKeyData: rest.KeyData}
	config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "admin", Namespace: namespace}
	config.CurrentContext = "test"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	must.Succeed(t, clientcmd.WriteToFile(*config, path))
	return path
}

// answer is what a command line left behind.
type answer struct {
	code     int
	out, err string
	// machine is what it says of how busy it was meanwhile.
	machine pressure.Reading
}

// exits checks the exit code.
func (a answer) exits(t *testing.T, code int) {
	t.Helper()
	if a.code != code {
		t.Errorf("exit code %d, want %d; standard error:\n%s\nstandard output:\n%s", a.code, code, a.err, a.out)
	}
}

// fails checks that nothing was done, and that the error has some words.
func (a answer) fails(t *testing.T, words ...string) {
	t.Helper()
	if a.code != 4 || a.out != "" {
		t.Errorf("exit code %d and output %q, want 4 and none, and an error that says %q", a.code, a.out, words)
	}
	contains(t, "the error", a.err, words...)
}

// run runs a command line to its end.
func (p *testUser) run(args ...string) answer {
	p.t.Helper()
	return p.execute(p.t.Context(), &screen{}, "", args...)
}

func (p *testUser) execute(ctx context.Context, stderr *screen, input string, args ...string) answer {
	p.t.Helper()
	var out bytes.Buffer
	args = append([]string{"--kubeconfig", p.kubeconfig}, args...)
	defer stderr.acting.Wait()
	code := command.Execute(ctx, args, command.Streams{In: strings.NewReader(input), Out: &out, Err: stderr, Size: stderr.size})
	return answer{code: code, out: out.String(), err: stderr.String()}
}

// screen collects the output. When the awaited text appears in it, it calls a
// function, once.
type screen struct {
	size  func() (int, int)
	await string
	then  func()

	acting  sync.WaitGroup
	mu      sync.Mutex
	content strings.Builder
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.content.Write(p)
	if s.then != nil && strings.Contains(s.content.String(), s.await) {
		s.acting.Go(s.then)
		s.then = nil
	}
	return len(p), nil
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.content.String()
}

// file writes a manifest and returns its path.
func (p *testUser) file(content string) string {
	p.t.Helper()
	path := filepath.Join(p.t.TempDir(), "loadtest.yaml")
	must.Succeed(p.t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// create creates the LoadTest hello with a status, as if it had been there for
// long.
func (p *testUser) create(status string) *v1beta1.LoadTest { return p.createNamed("hello", status) }

func (p *testUser) createNamed(name, status string) *v1beta1.LoadTest {
	p.t.Helper()
	lt := &v1beta1.LoadTest{}
	must.Succeed(p.t, yaml.UnmarshalStrict([]byte(manifest(name)), lt))
	lt.Namespace = p.namespace
	must.Succeed(p.t, p.client.Create(p.t.Context(), lt))
	must.Succeed(p.t, setStatus(p.t.Context(), p.client, lt, status))
	return lt
}

func (p *testUser) get(name string) *v1beta1.LoadTest {
	p.t.Helper()
	lt := &v1beta1.LoadTest{}
	must.Succeed(p.t, p.client.Get(p.t.Context(), client.ObjectKey{Namespace: p.namespace, Name: name}, lt))
	return lt
}

// names are the names of all LoadTests.
func (p *testUser) names() (names []string) {
	p.t.Helper()
	var list v1beta1.LoadTestList
	must.Succeed(p.t, p.client.List(p.t.Context(), &list, client.InNamespace(p.namespace)))
	for _, lt := range list.Items {
		names = append(names, lt.Name)
	}
	return names
}

// ends gives the LoadTest hello the status of a run that has finished.
func (p *testUser) ends(verdict string) {
	must.Report(p.t, "end the run", setStatus(p.t.Context(), p.client, p.get("hello"), finished(verdict)))
}

// refuses runs command lines that are mistaken, each by what is said of it.
func (p *testUser) refuses(mistakes map[string][]string) {
	p.t.Helper()
	for want, args := range mistakes {
		p.run(args...).fails(p.t, want)
	}
}

func manifest(name string) string {
	return `
apiVersion: loadtest.dev/v1beta1
kind: LoadTest
metadata: {name: ` + name + `}
spec:
  target: {url: "http://shortener:8080"}
  requests: [{name: health, http: {path: /health}}]
  steps: [{name: 10 users, users: 10, duration: 5s}]
`
}

func setStatus(ctx context.Context, c client.Client, lt *v1beta1.LoadTest, status string) error {
	lt.Status = v1beta1.LoadTestStatus{}
	if err := yaml.UnmarshalStrict([]byte(status), &lt.Status); err != nil {
		return err
	}
	for i := range lt.Status.Conditions {
		lt.Status.Conditions[i].LastTransitionTime = metav1.Now()
	}
	return c.Status().Update(ctx, lt)
}

// The statuses of a run, as an operator writes them one after another. The step
// began long ago, whatever the clock of the machine shows.
const (
	starting = `{phase: Starting, workers: {desired: 2}, summary: {step: 0/1, workers: 0/2}}`
	running  = `{phase: Running, workers: {desired: 2, ready: 2}, summary: {step: 1/1, workers: 2/2, goodput: 998/s},
		steps: [{name: 10 users, rung: 1, load: {users: 10, duration: 5s}, state: Running, startTime: "2020-11-20T10:15:02.000000Z"}]}`
)

// finished is the status of a finished run.
func finished(verdict string) string {
	carriedOut := "True"
	if verdict == "Canceled" || verdict == "Error" {
		carriedOut = "False"
	}
	return `{phase: Finished, verdict: ` + verdict + `, workers: {desired: 2, ready: 2}, summary: {step: 1/1, workers: 2/2, goodput: 999/s, p95: 41ms, errors: 0%},
		conditions: [{type: CarriedOut, status: "` + carriedOut + `", reason: AllStepsRan, message: That was it.}, {type: Finished, status: "True", reason: ` + verdict + `, message: That was it.}],
		steps: [{name: 10 users, rung: 1, load: {users: 10, duration: 5s}, state: Complete, result: {due: 10, sent: 10, completed: 10, expected: 10, failed: 0, unsent: 0, late: 0,
			outcomes: {success: 10, rateLimited: 0, clientError: 0, serverError: 0, unexpectedStatus: 0, timeout: 0, refused: 0, reset: 0, dns: 0, tls: 0, badResponse: 0, unfinished: 0, other: 0}}}]}`
}

// operator plays the operator in a namespace, and Kubernetes' garbage collector
// for LoadTests: to each new LoadTest it gives the statuses that its script says,
// one after another, and a finalizer's work is done at once.
func (p *testUser) operator(script func(lt *v1beta1.LoadTest) []string) {
	p.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	w, err := p.client.Watch(ctx, &v1beta1.LoadTestList{}, client.InNamespace(p.namespace))
	must.Succeed(p.t, err)
	done := make(chan struct{})
	p.t.Cleanup(func() { cancel(); <-done })
	go func() {
		defer close(done)
		for event := range w.ResultChan() {
			lt, ok := event.Object.(*v1beta1.LoadTest)
			if !ok || event.Type == watch.Deleted {
				continue
			}
			if err := p.reconcile(ctx, lt, script); err != nil && ctx.Err() == nil {
				p.t.Errorf("play the operator: %v", err)
			}
		}
	}()
}

func (p *testUser) reconcile(ctx context.Context, lt *v1beta1.LoadTest, script func(*v1beta1.LoadTest) []string) error {
	if lt.DeletionTimestamp != nil {
		if controllerutil.RemoveFinalizer(lt, metav1.FinalizerDeleteDependents) {
			p.collected.Add(1)
			return client.IgnoreNotFound(p.client.Update(ctx, lt))
		}
		return nil
	}
	if lt.Status.Phase != v1beta1.PhasePending {
		return nil
	}
	for _, status := range script(lt) {
		if err := setStatus(ctx, p.client, lt, status); err != nil {
			return err
		}
	}
	return nil
}

// contains reports the texts that are missing in another.
func contains(t *testing.T, where, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s does not say %q:\n%s", where, part, text)
		}
	}
}

// apply creates an object in the user's namespace.
func (p *testUser) apply(manifest string) {
	p.t.Helper()
	if out, err := apiserver.Kubectl(p.t)(manifest, "apply", "-n", p.namespace, "-f", "-"); err != nil {
		p.t.Fatalf("%v: %s", err, out)
	}
}
