//go:build e2e

package ecosystem

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// argoCDChecks are the story of a team that releases by Git: what it pushes is synced by a
// real Argo CD, and gated by LoadTests.
func argoCDChecks(t *testing.T, e *ecosystem) {
	installArgoCD(t)
	s := &gitOps{story: newStory(t, "gitops"), git: newGitRepository(t)}
	c := component{e, "Argo CD 3.2.1"}
	c.check(t, "a hook that fails fails the sync, and one that passes lets it go on", s.hook)
	c.check(t, "nothing is out of sync by itself", s.stays("shop"))
	c.check(t, "a LoadTest holds up the next wave, and a changed test is a new run", s.waves)
	c.check(t, "after the run of a wave, all stays Synced and Healthy", s.stays("waves"))
	c.check(t, "the Job of an AnalysisTemplate ends as its LoadTest does", s.analysis)
	c.check(t, "samples are as in Git after the operator took them up", s.samples)
	c.check(t, "an ApplicationSet makes an Application for each preset", s.set)
}

// gitOps is the story.
type gitOps struct {
	story
	git *gitRepository
}

// story is what happens in a namespace, printed as it does.
type story struct {
	name  string
	ns    string
	begun time.Time
}

func newStory(t *testing.T, name string) story {
	t.Helper()
	return story{name: name, ns: cluster.Namespace(t), begun: time.Now()}
}

func (s *story) tell(format string, args ...any) {
	fmt.Printf("%s: %6.1fs  %s\n", s.name, time.Since(s.begun).Seconds(), fmt.Sprintf(format, args...))
}

// shopImage is the image of the example, and what stands for it: a service that answers
// rightly or wrongly.
func shopImage(mode string) []string {
	return []string{"example.com/shop:1.4.2", cluster.Image("counter") + ":" + cluster.ImageTag() + "\n          args: [--mode=" + mode + "]"}
}

func (s *gitOps) hook(t *testing.T) string {
	s.git.put(t, "hook/loadtest.yaml")
	s.git.put(t, "hook/shop.yaml", shopImage("wrong")...)
	bad := s.git.push(t, "Release 1.5.0")
	s.tell("pushed release 1.5.0, which answers every request with an error")
	s.application(t, "shop", "hook", s.ns)
	phase, message := s.synced(t, "shop", bad)
	first := s.verdict(t, "shop-gate", v1beta1.VerdictFailed)
	s.tell("Argo CD says of it: %s", s.said(t, "shop"))
	if phase != "Failed" {
		t.Errorf("the sync is %s: %s", phase, message)
	}
	s.git.put(t, "hook/shop.yaml", shopImage("ok")...)
	good := s.git.push(t, "Release 1.5.1")
	s.tell("pushed release 1.5.1, the fix")
	phase, message = s.synced(t, "shop", good)
	second := s.verdict(t, "shop-gate", v1beta1.VerdictPassed)
	if phase != "Succeeded" {
		t.Errorf("the sync is %s: %s", phase, message)
	}
	if first.UID == second.UID {
		t.Error("the second sync has no run of its own")
	}
	return fmt.Sprintf("release 1.5.0: LoadTest %s, sync Failed; release 1.5.1: LoadTest %s, sync %s", first.Status.Verdict, second.Status.Verdict, phase)
}

func (s *gitOps) waves(t *testing.T) string {
	s.git.put(t, "waves/released.yaml")
	s.git.put(t, "waves/loadtest.yaml", "status: [200]", "status: [418]")
	bad := s.git.push(t, "Test the limit before the checkout is released")
	s.tell("pushed a LoadTest in wave 1, which expects what the shop does not answer, and a flag in wave 2")
	s.application(t, "waves", "waves", s.ns)
	phase, message := s.synced(t, "waves", bad)
	first := s.verdict(t, "shop-limit", v1beta1.VerdictFailed)
	released := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: s.ns, Name: "released"}
	if err := cluster.API.Get(t.Context(), key, released); phase != "Failed" || !apierrors.IsNotFound(err) {
		t.Errorf("the sync is %s (%s), and wave 2 %v", phase, message, err)
	}
	s.git.put(t, "waves/loadtest.yaml")
	good := s.git.push(t, "Expect what the shop answers")
	s.tell("pushed a change of the LoadTest")
	phase, message = s.synced(t, "waves", good)
	second := s.verdict(t, "shop-limit", v1beta1.VerdictPassed)
	if err := cluster.API.Get(t.Context(), key, released); phase != "Succeeded" || err != nil {
		t.Errorf("the sync is %s (%s), and wave 2 %v", phase, message, err)
	}
	if first.UID == second.UID {
		t.Error("the changed test is the run of before")
	}
	return fmt.Sprintf("%s: wave 2 is not there; changed: %s, wave 2 is there", first.Status.Verdict, second.Status.Verdict)
}

// stays looks for a while whether anything of an Application differs from Git after a run,
// or is not well.
func (s *gitOps) stays(name string) func(*testing.T) string {
	return func(t *testing.T) string {
		looks := 0
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end); looks++ {
			s.refresh(t, name, "hard")
			app := s.get(t, name)
			if sync, health := str(app, "status", "sync", "status"), str(app, "status", "health", "status"); sync != "Synced" || health != "Healthy" {
				t.Fatalf("it is %s and %s: %v", sync, health, app.Object["status"])
			}
			must.Succeed(t, cluster.SleepUntil(t.Context(), time.Now().Add(3*time.Second)))
		}
		return fmt.Sprintf("Synced and Healthy each of %d times, all compared anew", looks)
	}
}

// samples puts every sample into Git, held, and compares what the cluster has with it.
func (s *gitOps) samples(t *testing.T) string {
	ns, n := cluster.Namespace(t), 0
	files, err := filepath.Glob("../../../config/samples/*.yaml")
	must.Succeed(t, err)
	for _, file := range files {
		content := must.ReadFile(t, file)
		var lt unstructured.Unstructured
		if err := yaml.Unmarshal(content, &lt.Object); err != nil || lt.GetKind() != "LoadTest" {
			continue
		}
		lt.Object["spec"].(map[string]any)["suspend"] = true
		held, err := yaml.Marshal(lt.Object)
		must.Succeed(t, err)
		s.git.write(t, fmt.Sprintf("samples/%s.yaml", lt.GetName()), held)
		n++
	}
	revision := s.git.push(t, "Add the samples")
	s.application(t, "samples", "samples", ns)
	cluster.Soon(t, func(ctx context.Context) error {
		app := s.get(t, "samples")
		if sync, health := str(app, "status", "sync", "status"), str(app, "status", "health", "status"); sync != "Synced" || health != "Suspended" || str(app, "status", "sync", "revision") != revision {
			return fmt.Errorf("it is %s and %s: %s", sync, health, str(app, "status", "operationState", "message"))
		}
		return nil
	})
	s.refresh(t, "samples", "hard")
	if sync := str(s.get(t, "samples"), "status", "sync", "status"); sync != "Synced" || n < 5 {
		t.Errorf("%d samples are %s", n, sync)
	}
	return fmt.Sprintf("%d LoadTests are Synced, and Suspended", n)
}

// set applies the example of an ApplicationSet.
func (s *gitOps) set(t *testing.T) string {
	content := must.ReadFile(t, "../../../examples/argocd/applicationset.yaml")
	apply(t, content)
	var names []string
	for _, preset := range []string{"seed-004-lua", "seed-004-hash", "seed-004-transaction"} {
		if err := cluster.Try(t.Context(), time.Minute, func(ctx context.Context) error {
			return cluster.API.Get(ctx, client.ObjectKey{Namespace: argoCDNamespace, Name: preset}, application())
		}); err != nil {
			t.Error(err)
			continue
		}
		names = append(names, preset)
	}
	return strings.Join(names, ", ")
}

func application() *unstructured.Unstructured {
	app := &unstructured.Unstructured{}
	app.SetAPIVersion("argoproj.io/v1alpha1")
	app.SetKind("Application")
	return app
}

// application creates the example's Application for a folder of the repository.
func (s *gitOps) application(t *testing.T, name, folder, ns string) {
	t.Helper()
	content := must.ReadFile(t, "../../../examples/argocd/application.yaml")
	apply(t, []byte(strings.NewReplacer(
		"name: shop", "name: "+name, "https://git.example.com/shop.git", argoCDRepository, "path: hook", "path: "+folder, "namespace: shop", "namespace: "+ns,
	).Replace(string(content))))
}

func (s *gitOps) get(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	app := application()
	must.Succeed(t, cluster.API.Get(t.Context(), client.ObjectKey{Namespace: argoCDNamespace, Name: name}, app))
	return app
}

// refresh has Argo CD look at Git, as a webhook does, and waits until it has; kind hard has
// it forget what it knew.
func (s *gitOps) refresh(t *testing.T, name, kind string) {
	t.Helper()
	const annotation = "argocd.argoproj.io/refresh"
	cluster.MustCommand(t, "kubectl", "-n", argoCDNamespace, "annotate", "--overwrite", "applications.argoproj.io/"+name, annotation+"="+kind)
	if err := cluster.Try(t.Context(), time.Minute, func(context.Context) error {
		if _, pending := s.get(t, name).GetAnnotations()[annotation]; pending {
			return fmt.Errorf("application %s was not refreshed", name)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// synced waits until the sync to a revision has ended, and says how.
func (s *gitOps) synced(t *testing.T, name, revision string) (phase, message string) {
	t.Helper()
	s.refresh(t, name, "normal")
	if err := cluster.Try(t.Context(), cluster.Patience, func(context.Context) error {
		app := s.get(t, name)
		phase, message = str(app, "status", "operationState", "phase"), str(app, "status", "operationState", "message")
		if got := str(app, "status", "operationState", "operation", "sync", "revision"); got != revision || phase == "Running" || phase == "" {
			return fmt.Errorf("the sync of %s to %.7s has not ended: %.7s %s %s", name, revision, got, phase, message)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	s.tell("sync of %s to %.7s: %s: %s", name, revision, phase, message)
	return phase, message
}

// verdict reads a LoadTest that has finished.
func (s *gitOps) verdict(t *testing.T, name string, want v1beta1.Verdict) *v1beta1.LoadTest {
	t.Helper()
	lt := &v1beta1.LoadTest{}
	must.Succeed(t, cluster.API.Get(t.Context(), client.ObjectKey{Namespace: s.ns, Name: name}, lt))
	s.tell("LoadTest %s: %s: %s", name, lt.Status.Verdict, cluster.Condition(lt, v1beta1.ConditionFinished).Message)
	same.As(t, "LoadTest "+name, want, lt.Status.Verdict)
	return lt
}

// said is what Argo CD says of the LoadTest of a sync.
func (s *gitOps) said(t *testing.T, name string) string {
	t.Helper()
	resources, _, _ := unstructured.NestedSlice(s.get(t, name).Object, "status", "operationState", "syncResult", "resources")
	for _, r := range resources {
		if r, ok := r.(map[string]any); ok && r["kind"] == "LoadTest" {
			return fmt.Sprint(r["hookPhase"], ", ", r["message"])
		}
	}
	t.Error("the sync has no LoadTest")
	return ""
}

func str(o *unstructured.Unstructured, path ...string) string {
	value, _, _ := unstructured.NestedString(o.Object, path...)
	return value
}
