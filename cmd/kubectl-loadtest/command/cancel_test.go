package command_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/command"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestCancelTerminates(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	p.create(running)
	got := p.run("cancel", "hello")
	if got.code != 0 || got.out != "LoadTest "+p.namespace+"/hello is ending\n" {
		t.Errorf("exit code %d, %q; standard error:\n%s", got.code, got.out, got.err)
	}
	if !p.get("hello").Spec.Terminate {
		t.Error("spec.terminate is not set")
	}
}

// A run that is over is left as it is, and one that is not there does not keep the
// others from being ended.
func TestCancelOfSeveral(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	p.create(finished("Passed"))
	p.createNamed("other", running)
	got := p.run("cancel", "missing", "hello", "other")
	got.exits(t, 4)
	contains(t, "the output", got.out, "/hello has finished already: Passed", "/other is ending")
	contains(t, "the error", got.err, `"missing" not found`)
	if p.get("hello").Spec.Terminate || !p.get("other").Spec.Terminate {
		t.Error("the run that was over was ended, or the other was not")
	}
}

func TestCancelWaits(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	p.create(running)
	stderr := &screen{await: "hello  Running", then: func() { p.ends("Canceled") }}
	got := p.execute(t.Context(), stderr, "", "cancel", "hello", "--wait")
	if got.code != 0 || !strings.Contains(got.out, "has finished: Canceled") {
		t.Errorf("exit code %d, %s%s", got.code, got.out, got.err)
	}
}

func TestRerunHasTheSameSpec(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	old := p.create(finished("Failed"))
	old.Spec.Terminate = true
	old.Labels = map[string]string{"team": "checkout", "app.kubernetes.io/instance": "shop", "argocd.argoproj.io/instance": "shop"}
	must.Succeed(t, p.client.Update(t.Context(), old))
	p.operator(func(*v1beta1.LoadTest) []string { return []string{running, finished("Passed")} })
	got := p.run("rerun", "hello", "--name", "again")
	got.exits(t, 0)
	contains(t, "the report", got.out, "LoadTest "+p.namespace+"/again\n")
	again, want := p.get("again"), old.Spec
	want.Terminate = false
	same.As(t, "the spec", want, again.Spec)
	if diff := cmp.Diff(map[string]string{"team": "checkout"}, again.Labels); diff != "" {
		t.Errorf("labels (-want +got), without those by which other programs find theirs:\n%s", diff)
	}
	if again.Annotations[command.AnnotationRerunOf] != "hello" {
		t.Errorf("annotations %v do not name the first", again.Annotations)
	}
	if p.get("hello").Status.Verdict != v1beta1.VerdictFailed {
		t.Error("the first has lost its result")
	}
	contains(t, "the refusal of a name that is taken", p.run("rerun", "hello", "--name", "again").err, "--name: LoadTest "+p.namespace+"/again exists already")
}

// Names do not grow from run to run, and are not too long.
func TestRerunNames(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	names := []string{strings.Repeat("a", 50) + "-b", "short"}
	for _, name := range names {
		p.createNamed(name, finished("Passed"))
	}
	p.operator(func(*v1beta1.LoadTest) []string { return []string{finished("Passed")} })
	for _, name := range names {
		most := min(52, len(name)+len("-xxxxx"))
		for range 3 {
			got := p.run("rerun", name)
			if got.code != 0 {
				t.Fatalf("exit code %d: %s", got.code, got.err)
			}
			_, rest, _ := strings.Cut(got.out, "LoadTest "+p.namespace+"/")
			name, _, _ = strings.Cut(rest, "\n")
			if len(name) > most || p.get(name).Annotations[command.AnnotationRerunOf] == "" {
				t.Errorf("the name %s has %d letters, want at most %d", name, len(name), most)
			}
		}
	}
}

// A held run is said to be held, with the command that starts it, which does.
func TestHeldRunIsSaidAndResumed(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	held := manifest("hello") + "  suspend: true\n"
	stderr := &screen{await: "is held by spec.suspend; start it with: kubectl loadtest watch hello -n " + p.namespace + " --resume", then: func() {
		// The command that the message names, as another person would type it.
		p.operator(unlessHeld)
		p.run("watch", "hello", "--resume").exits(t, 0)
	}}
	got := p.execute(t.Context(), stderr, "", "run", "-f", p.file(held), "--timeout", "2m")
	if got.code != 0 || p.get("hello").Spec.Suspend {
		t.Errorf("exit code %d, suspend %t: %s", got.code, p.get("hello").Spec.Suspend, got.err)
	}
	if n := strings.Count(got.err, "is held by spec.suspend; start"); n != 1 {
		t.Errorf("it is said %d times, want once:\n%s", n, got.err)
	}
}

// unlessHeld is an operator whose runs pass once nothing holds them.
func unlessHeld(lt *v1beta1.LoadTest) []string {
	if lt.Spec.Suspend {
		return nil
	}
	return []string{finished("Passed")}
}

func TestRunResume(t *testing.T) {
	t.Parallel()
	held := manifest("hello") + "  suspend: true\n"
	for name, tt := range map[string]struct {
		there string
		code  int
		want  string
	}{
		"what is not there":         {"", 0, ""},
		"what is there":             {held, 0, ""},
		"what is there and changed": {strings.Replace(held, "users: 10", "users: 11", 1), 4, "has another spec than the file"},
		"what is not held":          {manifest("hello"), 4, "exists already"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newTestUser(t)
			if tt.there != "" {
				p.apply(tt.there)
			}
			p.operator(unlessHeld)
			got := p.run("run", "--resume", "-f", p.file(held))
			if got.code != tt.code || !strings.Contains(got.err, tt.want) {
				t.Errorf("exit code %d, want %d and %q:\n%s", got.code, tt.code, tt.want, got.err)
			}
			if suspended := p.get("hello").Spec.Suspend; suspended != strings.Contains(name, "changed") {
				t.Errorf("suspend is %t", suspended)
			}
		})
	}
}

// When the time is over the command ends, and the run goes on.
func TestTimeout(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	p.operator(func(*v1beta1.LoadTest) []string { return []string{running} })
	var name string
	var got answer
	for limit := time.Second; limit < time.Minute; limit *= 2 {
		name = "for-" + limit.String()
		got = p.run("run", "-f", p.file(manifest(name)), "--timeout", limit.String())
		if !strings.Contains(got.err, "create LoadTest") { // for which a busy machine may take longer
			break
		}
	}
	got.fails(t, "--timeout has passed, but LoadTest "+p.namespace+"/"+name+" goes on", "kubectl loadtest cancel "+name+" -n "+p.namespace)
	if p.get(name).Spec.Terminate {
		t.Error("the run was ended")
	}
}

// On this machine the time ends the run, with what was measured.
func TestTimeoutOfLocalRun(t *testing.T) {
	url, _ := answering(t, 200)
	long := strings.Replace(localTest("url: "+url), "requestsPerUser: 4", "duration: 10m", 1)
	got := alone(t.Context(), t, "run", "--local", "-f", write(t, "a.yaml", long), "--timeout", "2s")
	if got.code != 3 || !strings.Contains(got.out, "Verdict             Canceled") {
		t.Errorf("exit code %d:\n%s%s", got.code, got.out, got.err)
	}
}

// What kustomize builds is run: ConfigMaps and Secrets are there before the LoadTest, and
// what is of no use to it is left aside.
func TestRunAppliesConfigMapsAndSecrets(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	p.operator(func(lt *v1beta1.LoadTest) []string {
		for _, kind := range []string{"configmap/rows", "secret/token"} {
			if out, err := apiserver.Kubectl(t)("", "get", kind, "-n", lt.Namespace); err != nil {
				t.Errorf("the LoadTest was created before %s: %s", kind, out)
			}
		}
		return []string{finished("Passed")}
	})
	others := "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: rows}\ndata: {a.csv: id}\n" +
		"---\napiVersion: v1\nkind: Secret\nmetadata: {name: token}\nstringData: {key: ${VALUE}}\n" +
		"---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: shop}\n"
	for _, value := range []string{"first", "second"} {
		file := p.file(manifest("hello") + strings.ReplaceAll(others, "${VALUE}", value))
		got := p.run("run", "--replace", "-f", file)
		if got.code != 0 {
			t.Fatalf("exit code %d: %s", got.code, got.err)
		}
		contains(t, "the log", got.err, "not applied: Deployment shop; kubectl apply -f creates them")
		out, err := apiserver.Kubectl(t)("", "get", "secret/token", "-n", p.namespace, "-o", "go-template={{.data.key | base64decode}}")
		if err != nil || out != value {
			t.Errorf("the Secret holds %q (%v), want %q", out, err, value)
		}
	}
	if out, err := apiserver.Kubectl(t)("", "get", "deployments", "-n", p.namespace, "-o", "name"); err != nil || out != "" {
		t.Errorf("what was left aside was created: %s (%v)", out, err)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	for name, status := range map[string]string{
		"good": finished("Passed"), "bad": finished("Failed"), "broken": finished("Error"), "goes": running,
		"stuck": `{phase: Starting, conditions: [{type: WorkersReady, status: "False", reason: Unschedulable, message: "1 of 2 workers waits for a node: insufficient memory, of which there is none left in the whole cluster."}]}`,
	} {
		p.createNamed(name, status)
	}
	names := func(args ...string) []string {
		got := p.run(append([]string{"list", "-o", "name"}, args...)...)
		return strings.Fields(strings.ReplaceAll(got.out, "loadtest.loadtest.dev/", ""))
	}
	same.As(t, "the order", []string{"stuck", "broken", "bad", "goes", "good"}, names())
	same.As(t, "the order by name", []string{"bad", "broken", "goes", "good", "stuck"}, names("--sort", "name"))
	table := p.run("list")
	contains(t, "the table", table.out, "NAME", "ATTENTION", "1 of 2 workers waits for a node: insufficient memory, of wh…\n", "999/s", "41ms", "Failed")
	wide := p.run("list", "-A", "-o", "wide")
	contains(t, "the wide table", wide.out, "NAMESPACE", "WORKERS", "http://shortener:8080", "none left in the whole cluster.\n")
	for form, unmarshal := range map[string]func([]byte, any) error{"json": json.Unmarshal, "yaml": func(b []byte, v any) error { return yaml.Unmarshal(b, v) }} {
		var list v1beta1.LoadTestList
		if err := unmarshal([]byte(p.run("list", "-o", form).out), &list); err != nil || len(list.Items) != 5 || list.Items[1].Status.Verdict != v1beta1.VerdictError {
			t.Errorf("%s: %v, %d items", form, err, len(list.Items))
		}
	}
	if got := p.run("list", "-l", "team=none"); got.code != 0 || got.out != "" || !strings.Contains(got.err, "There are no LoadTests in namespace "+p.namespace) {
		t.Errorf("an empty list: %d, %q, %q", got.code, got.out, got.err)
	}
	for _, wrong := range [][]string{{"-o", "csv"}, {"--sort", "size"}, {"-l", "=="}} {
		if got := p.run(append([]string{"list"}, wrong...)...); got.code != 4 || got.out != "" {
			t.Errorf("%v: exit code %d, %q", wrong, got.code, got.out)
		}
	}
}
