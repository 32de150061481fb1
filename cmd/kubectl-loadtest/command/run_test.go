package command_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/progress"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestRunEndsWithTheVerdict(t *testing.T) {
	t.Parallel()
	for verdict, code := range map[string]int{"Passed": 0, "Failed": 1, "Inconclusive": 2, "Canceled": 3, "Error": 4} {
		t.Run(verdict, func(t *testing.T) {
			p := newTestUser(t)
			p.operator(func(*v1beta1.LoadTest) []string { return []string{starting, running, finished(verdict)} })
			got := p.run("run", "-f", p.file(manifest("hello")))
			got.exits(t, code)
			contains(t, "the report", got.out, "LoadTest "+p.namespace+"/hello", "Verdict             "+verdict, "sent 10 (100%)")
			contains(t, "the log", got.err, p.namespace+"/hello  "+verdict+"  step 1/1  goodput 999/s  p95 41ms")
			if strings.Contains(got.err, "error:") {
				t.Errorf("the log says error for a verdict:\n%s", got.err)
			}
		})
	}
}

func TestRunOnATerminal(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	p.operator(func(*v1beta1.LoadTest) []string { return []string{running} })
	stderr := &screen{size: func() (int, int) { return 100, 30 }, await: "Running", then: func() { p.ends("Passed") }} // only what was seen to run finishes
	got := p.execute(t.Context(), stderr, "", "run", "-f", p.file(manifest("hello")))
	got.exits(t, 0)
	const enter, leave = "\x1b[?1049h", "\x1b[?1049l"
	contains(t, "the terminal", got.err, enter, "Running  step 1/1  10 users", "━━━━━━━━━━━━━━━━━━━━  5s/5s  goodput 998/s  workers 2/2", leave)
	after := got.err[strings.LastIndex(got.err, leave):]
	contains(t, "the terminal once it was given back", after, p.namespace+"/hello  Passed")
	if strings.Contains(got.out, "\x1b") {
		t.Errorf("the report holds control characters: %q", got.out)
	}
}

func TestRunSequence(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	var mu sync.Mutex
	var order []string
	p.operator(func(lt *v1beta1.LoadTest) []string {
		mu.Lock()
		defer mu.Unlock()
		for _, before := range order {
			if !progress.Finished(p.get(before)) {
				t.Errorf("%s was created before %s had finished", lt.Name, before)
			}
		}
		order = append(order, lt.Name)
		verdicts := map[string]string{"one": "Passed", "two": "Inconclusive", "three": "Failed"}
		return []string{running, finished(verdicts[lt.Name])}
	})
	input := manifest("two") + "---\n# nothing here\n---\n" + manifest("three")
	got := p.execute(t.Context(), &screen{}, input, "run", "-f", p.file(manifest("one")), "-f", "-")
	got.exits(t, 2)
	same.As(t, "the order", []string{"one", "two", "three"}, order)
	contains(t, "the reports", got.out, "/one\n", "\n\nLoadTest "+p.namespace+"/two\n", "/three\n")
}

func TestRunGenerateName(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	p.operator(func(*v1beta1.LoadTest) []string { return []string{finished("Passed")} })
	path := p.file(strings.Replace(manifest("x"), "{name: x}", "{generateName: nightly-}", 1))
	for range 2 {
		got := p.run("run", "--replace", "-f", path)
		got.exits(t, 0)
		contains(t, "the report", got.out, p.namespace+"/nightly-")
	}
	if names := p.names(); len(names) != 2 {
		t.Errorf("LoadTests %q after two runs, want 2", names)
	}
}

func TestRunIgnoresOldResult(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	old := p.create(finished("Passed"))
	got := p.run("run", "-f", p.file(manifest("hello")))
	got.fails(t, "error: LoadTest "+p.namespace+"/hello exists already", "--replace", "kubectl loadtest report hello -n "+p.namespace)
	if p.get("hello").UID != old.UID {
		t.Error("the old LoadTest was replaced without --replace")
	}
}

func TestRunReplace(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	old := p.create(finished("Failed"))
	p.operator(func(*v1beta1.LoadTest) []string { return []string{finished("Passed")} })
	got := p.run("run", "--replace", "-f", p.file(manifest("hello")))
	got.exits(t, 0)
	if p.get("hello").UID == old.UID {
		t.Error("the old LoadTest is still there")
	}
	if n := p.collected.Load(); n != 1 {
		t.Errorf("%d LoadTests were deleted with what belongs to them, want 1: the next Job has the same name", n)
	}
	owns := func(f metav1.ManagedFieldsEntry) bool { return f.Manager == "kubectl-loadtest" }
	if fields := p.get("hello").ManagedFields; !slices.ContainsFunc(fields, owns) {
		t.Errorf("the fields are managed by %v, want kubectl-loadtest", fields)
	}
}

func TestRunReplaceRefusesRunning(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	old := p.create(running)
	got := p.run("run", "--replace", "-f", p.file(manifest("hello")))
	got.exits(t, 4)
	contains(t, "the error", got.err, "--replace: LoadTest "+p.namespace+"/hello has not finished",
		"kubectl loadtest watch hello -n "+p.namespace, "kubectl loadtest cancel hello -n "+p.namespace)
	if now := p.get("hello"); now.UID != old.UID || now.DeletionTimestamp != nil {
		t.Error("the running LoadTest was deleted")
	}
}

func TestRunRefused(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	tests := map[string]struct {
		manifest string
		args     []string
		want     []string
	}{
		"a field that the API does not have": {manifest: strings.Replace(manifest("hello"), "users: 10", "userz: 10", 1),
			want: []string{"create LoadTest " + p.namespace + "/hello", `unknown field "spec.steps[0].userz"`}},
		"a value that the API refuses": {manifest: strings.Replace(manifest("hello"), "http://shortener:8080", "shortener", 1),
			want: []string{"spec.target.url", "url must be http:// or https:// with a host"}},
		"a namespace that is not there": {manifest: manifest("hello"), args: []string{"-n", "nowhere"},
			want: []string{`namespaces "nowhere" not found`, "kubectl create namespace"}},
		"two namespaces": {manifest: strings.Replace(manifest("hello"), "{name: hello}", "{name: hello, namespace: here}", 1), args: []string{"-n", "there"},
			want: []string{"LoadTest hello: metadata.namespace is here, but --namespace is there"}},
		"a user without rights": {manifest: manifest("hello"), args: []string{"--as", "guest"},
			want: []string{`User "guest" cannot create resource "loadtests"`, "verbs create, get, list and watch on loadtests.loadtest.dev"}},
		"no file": {args: []string{"-f", "nowhere.yaml"}, manifest: manifest("hello"), want: []string{"-f nowhere.yaml: no such file or directory"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p.run(append([]string{"run", "-f", p.file(test.manifest)}, test.args...)...).fails(t, test.want...)
		})
	}
	if names := p.names(); len(names) > 0 {
		t.Errorf("%q were created", names)
	}
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	p.operator(func(*v1beta1.LoadTest) []string { return []string{running} })
	ctx, interrupt := context.WithCancel(t.Context())
	got := p.execute(ctx, &screen{await: "hello  ", then: interrupt}, "", "run", "-f", p.file(manifest("hello")))
	if got.code != 130 || got.out != "" {
		t.Errorf("exit code %d and output %q, want 130 and none", got.code, got.out)
	}
	contains(t, "the message", got.err, "interrupted, but LoadTest "+p.namespace+"/hello goes on",
		"kubectl loadtest watch hello -n "+p.namespace, "kubectl loadtest cancel hello -n "+p.namespace)
	if lt := p.get("hello"); lt.Spec.Terminate || lt.DeletionTimestamp != nil {
		t.Error("the interrupt ended the run")
	}
}
