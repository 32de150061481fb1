//go:build e2e

package ecosystem

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

const fluxNamespace = "flux-system"

// checkFlux is the story of a team that releases by Flux: a real kustomize-controller applies
// examples/flux, whose gate is a LoadTest.
func checkFlux(t *testing.T, e *ecosystem) {
	s := &fluxStory{source: installFlux(t), story: newStory(t, "flux")}
	c := component{e, "Flux's kustomize-controller 1.9.5"} // as in hack/components/flux
	c.check(t, "a LoadTest that fails fails its Kustomization, and what depends on it is not applied", s.fails)
	c.check(t, "a changed LoadTest is a new run, and what depends on it is applied after Passed", s.passes)
	c.check(t, "a reconcile without changes leaves the LoadTest as it is", s.reconciles)
	c.check(t, "a commit that does not change the LoadTest repeats no run", s.commits)
	c.check(t, "postBuild.substitute names a LoadTest after its release, and its templates stay if they are escaped", s.substitutes)
}

// fluxStory is the story.
type fluxStory struct {
	story
	source *fluxSource
	// passed is the LoadTest as it was after its run.
	passed *v1beta1.LoadTest
}

func (s *fluxStory) fails(t *testing.T) string {
	s.source.put(t, "shop/shop.yaml", "argocd/hook/shop.yaml", shopImage("ok")...)
	s.source.put(t, "gate/loadtest.yaml", "flux/gate/loadtest.yaml", "status: [200]", "status: [418]")
	s.source.put(t, "checkout/released.yaml", "flux/checkout/released.yaml")
	revision := s.source.push(t)
	s.tell("pushed a LoadTest that expects what the shop does not answer")
	applyFlux(t, fluxExample(t, "flux/kustomizations.yaml", "targetNamespace: shop", "targetNamespace: "+s.ns))
	status, said := s.ended(t, "shop-gate", revision)
	lt := s.loadTest(t)
	s.tell("LoadTest: %s: %s", lt.Status.Verdict, cluster.Condition(lt, v1beta1.ConditionFinished).Message)
	if want := fmt.Sprintf("LoadTest/%s/shop-gate status: 'Failed'", s.ns); status != "False" || !strings.Contains(said, want) {
		t.Errorf("the Kustomization is %s: %s, want %s", status, said, want)
	}
	if lt.Status.Verdict != v1beta1.VerdictFailed {
		t.Errorf("the LoadTest is %s", lt.Status.Verdict)
	}
	s.waits(t)
	s.reconcile(t, "shop-gate")
	if again := s.loadTest(t); again.UID != lt.UID {
		t.Error("the run that failed was repeated")
	}
	return said
}

// waits checks that checkout was tried after the gate had failed, and was not applied.
func (s *fluxStory) waits(t *testing.T) {
	t.Helper()
	s.reconcile(t, "checkout")
	cluster.Soon(t, func(ctx context.Context) error {
		status, said := s.condition(ctx, "checkout")
		if status != "False" || !strings.HasPrefix(said, "DependencyNotReady: ") {
			return fmt.Errorf("checkout is %s: %s", status, said)
		}
		return nil
	})
	released := &corev1.ConfigMap{}
	if err := cluster.API.Get(t.Context(), client.ObjectKey{Namespace: s.ns, Name: "released"}, released); !apierrors.IsNotFound(err) {
		t.Errorf("what depends on the gate: %v", err)
	}
}

func (s *fluxStory) passes(t *testing.T) string {
	failed := s.loadTest(t)
	s.source.put(t, "gate/loadtest.yaml", "flux/gate/loadtest.yaml")
	revision := s.source.push(t)
	s.tell("pushed a change of the LoadTest")
	status, said := s.ended(t, "shop-gate", revision)
	s.passed = s.loadTest(t)
	s.tell("LoadTest: %s: %s", s.passed.Status.Verdict, cluster.Condition(s.passed, v1beta1.ConditionFinished).Message)
	if status != "True" || s.passed.Status.Verdict != v1beta1.VerdictPassed {
		t.Errorf("the Kustomization is %s: %s, and the LoadTest %s", status, said, s.passed.Status.Verdict)
	}
	if failed.UID == s.passed.UID {
		t.Error("the changed test is the run of before")
	}
	s.ended(t, "checkout", revision)
	if err := cluster.API.Get(t.Context(), client.ObjectKey{Namespace: s.ns, Name: "released"}, &corev1.ConfigMap{}); err != nil {
		t.Error(err)
	}
	return said + "; what depends on it is there"
}

// reconciles has the gate applied again and again, as at each interval.
func (s *fluxStory) reconciles(t *testing.T) string {
	const times = 3
	for range times {
		s.reconcile(t, "shop-gate")
		if status, said := s.condition(t.Context(), "shop-gate"); status != "True" {
			t.Errorf("it is %s: %s", status, said)
		}
	}
	s.untouched(t)
	return fmt.Sprintf("applied %d times more: the same generation and resource version", times)
}

func (s *fluxStory) commits(t *testing.T) string {
	s.source.put(t, "checkout/released.yaml", "flux/checkout/released.yaml", `"on"`, `"off"`)
	revision := s.source.push(t)
	s.tell("pushed a change of what depends on the gate")
	if status, said := s.ended(t, "shop-gate", revision); status != "True" {
		t.Errorf("the gate is %s: %s", status, said)
	}
	s.ended(t, "checkout", revision)
	released := &corev1.ConfigMap{}
	if err := cluster.API.Get(t.Context(), client.ObjectKey{Namespace: s.ns, Name: "released"}, released); err != nil || released.Data["checkout"] != "off" {
		t.Errorf("what depends on the gate: %v, %v", released.Data, err)
	}
	s.untouched(t)
	return "Ready with the new revision, by the run of before"
}

// substitutes has a LoadTest for each release. To Flux, ${seq} is a variable of its own.
func (s *fluxStory) substitutes(t *testing.T) string {
	loadTest := func(path string) (revision string) {
		s.source.put(t, "release/loadtest.yaml", "flux/gate/loadtest.yaml", "name: shop-gate", "name: shop-${release}", "path: /orders", `path: "`+path+`"`)
		return s.source.push(t)
	}
	revision := loadTest("/orders?n=${seq}")
	gate := strings.Split(fluxExample(t, "flux/kustomizations.yaml", "targetNamespace: shop", "targetNamespace: "+s.ns), "\n---\n")[1]
	applyFlux(t, strings.NewReplacer("name: shop-gate,", "name: shop-release,", "path: ./gate", "path: ./release\n  postBuild: {substitute: {release: 1-5-1}}").Replace(gate))
	status, refused := s.ended(t, "shop-release", revision)
	if status != "False" || !strings.Contains(refused, `variable not set (strict mode): "seq"`) {
		t.Errorf("a template that is not escaped: it is %s: %s", status, refused)
	}
	if status, said := s.ended(t, "shop-release", loadTest("/orders?n=$${seq}")); status != "True" {
		t.Errorf("it is %s: %s", status, said)
	}
	lt := &v1beta1.LoadTest{}
	must.Succeed(t, cluster.API.Get(t.Context(), client.ObjectKey{Namespace: s.ns, Name: "shop-1-5-1"}, lt))
	if path := lt.Spec.Requests[0].HTTP.Path; path != "/orders?n=${seq}" || lt.Status.Verdict != v1beta1.VerdictPassed {
		t.Errorf("it asks for %s, and is %s", path, lt.Status.Verdict)
	}
	return fmt.Sprintf("%s: %s; not escaped: %s", lt.Name, lt.Status.Verdict, refused)
}

// untouched compares the LoadTest with what it was after its run.
func (s *fluxStory) untouched(t *testing.T) {
	t.Helper()
	if s.passed == nil {
		t.Fatal("no run has passed")
	}
	lt := s.loadTest(t)
	if lt.UID != s.passed.UID || lt.Generation != s.passed.Generation || lt.ResourceVersion != s.passed.ResourceVersion {
		t.Errorf("the LoadTest was %s of generation %d (%s), and is %s of %d (%s)", s.passed.UID, s.passed.Generation, s.passed.ResourceVersion,
			lt.UID, lt.Generation, lt.ResourceVersion)
	}
}

// ended waits until a Kustomization has ended its attempt at a revision, and says how.
func (s *fluxStory) ended(t *testing.T, name, revision string) (status, said string) {
	t.Helper()
	cluster.Soon(t, func(ctx context.Context) error {
		o := fluxObject("kustomize.toolkit.fluxcd.io/v1", "Kustomization", name)
		if err := cluster.API.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		status, said = fluxCondition(o, "Ready")
		if got := str(o, "status", "lastAttemptedRevision"); got != revision || status == "Unknown" || status == "" {
			return fmt.Errorf("%s is %s at %s: %s", name, status, got, said)
		}
		return nil
	})
	s.tell("Kustomization %s: Ready is %s: %s", name, status, said)
	return status, said
}

// reconcile has Flux look at a Kustomization now, and waits until it has.
func (s *fluxStory) reconcile(t *testing.T, name string) {
	t.Helper()
	at := time.Now().Format(time.RFC3339Nano)
	cluster.MustCommand(t, "kubectl", "-n", fluxNamespace, "annotate", "--overwrite", "kustomizations.kustomize.toolkit.fluxcd.io/"+name, "reconcile.fluxcd.io/requestedAt="+at)
	cluster.Soon(t, func(ctx context.Context) error {
		o := fluxObject("kustomize.toolkit.fluxcd.io/v1", "Kustomization", name)
		if err := cluster.API.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		if status, said := fluxCondition(o, "Ready"); str(o, "status", "lastHandledReconcileAt") != at || status == "Unknown" {
			return fmt.Errorf("%s is %s: %s", name, status, said)
		}
		return nil
	})
}

func (s *fluxStory) condition(ctx context.Context, name string) (status, said string) {
	o := fluxObject("kustomize.toolkit.fluxcd.io/v1", "Kustomization", name)
	if err := cluster.API.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
		return "", err.Error()
	}
	return fluxCondition(o, "Ready")
}

func (s *fluxStory) loadTest(t *testing.T) *v1beta1.LoadTest {
	t.Helper()
	lt := &v1beta1.LoadTest{}
	must.Succeed(t, cluster.API.Get(t.Context(), client.ObjectKey{Namespace: s.ns, Name: "shop-gate"}, lt))
	return lt
}

// installFlux puts kustomize-controller into the cluster from its own manifests, and what
// stands for source-controller. It goes away with the test.
func installFlux(t *testing.T) *fluxSource {
	t.Helper()
	ours := must.ReadFile(t, "flux.yaml")
	component := filepath.Join("..", "..", "..", "hack", "components", "flux")
	controller := strings.TrimSpace(cluster.MustCommand(t, "go", "-C", component, "list", "-m", "-f", "{{.Dir}}", "github.com/fluxcd/kustomize-controller"))
	deployment := must.ReadFile(t, filepath.Join(controller, "config", "manager", "deployment.yaml"))
	crds := []string{"-f", filepath.Join(controller, "config", "crd", "bases"), "-f", filepath.Join(fluxSources(t, component), "config", "crd", "bases")}
	t.Cleanup(func() { uninstallFlux(t, crds) })
	cluster.MustCommand(t, "kubectl", "create", "namespace", fluxNamespace)
	cluster.MustCommand(t, "kubectl", append([]string{"apply", "--server-side"}, crds...)...)
	cluster.MustCommand(t, "kubectl", append([]string{"wait", "--for=condition=Established"}, crds...)...)
	applyFlux(t, strings.ReplaceAll(string(ours), "NGINX", cluster.Image("nginx")+":"+cluster.ImageTag()))
	applyFlux(t, strings.ReplaceAll(string(deployment), "fluxcd/kustomize-controller", cluster.Image("kustomize-controller")+":"+cluster.ImageTag()))
	cluster.MustCommand(t, "kubectl", "-n", fluxNamespace, "wait", "--for=condition=Ready", "pod/artifacts", "--timeout="+cluster.Patience.String())
	cluster.MustCommand(t, "kubectl", "-n", fluxNamespace, "rollout", "status", "deployment/kustomize-controller", "--timeout="+cluster.Patience.String())
	return &fluxSource{address: cluster.ForwardIn(t, fluxNamespace, "pod/artifacts", "8080"), files: map[string]string{}}
}

// fluxSources is the folder of source-controller's module, of which only the
// CustomResourceDefinitions are used.
func fluxSources(t *testing.T, component string) string {
	t.Helper()
	var module struct{ Dir string }
	out := cluster.MustCommand(t, "go", "-C", filepath.Join(component, "crds"), "mod", "download", "-json", "github.com/fluxcd/source-controller")
	if err := json.Unmarshal([]byte(out), &module); err != nil || module.Dir == "" {
		t.Fatalf("source-controller's module: %v\n%s", err, out)
	}
	return module.Dir
}

// uninstallFlux removes all of it. Kustomizations go first, with what they created.
func uninstallFlux(t *testing.T, crds []string) {
	ctx, cancel := context.WithTimeout(context.Background(), cluster.Patience)
	defer cancel()
	if t.Failed() {
		for _, args := range [][]string{
			{"get", "pods,kustomizations,gitrepositories", "-n", fluxNamespace, "-o", "wide"},
			{"logs", "-n", fluxNamespace, "deployment/kustomize-controller", "--tail=40"},
			{"logs", "-n", fluxNamespace, "pod/artifacts", "--tail=20"},
		} {
			out, err := cluster.Command(ctx, "kubectl", args...)
			t.Logf("kubectl %s (%v)\n%s", strings.Join(args, " "), err, out)
		}
	}
	for _, args := range [][]string{
		{"delete", "kustomizations.kustomize.toolkit.fluxcd.io", "--all", "-n", fluxNamespace, "--timeout=1m"},
		{"delete", "clusterrolebinding", "--ignore-not-found", "flux-kustomize-controller"},
		append([]string{"delete", "--ignore-not-found", "--wait=false"}, crds...),
		{"delete", "namespace", fluxNamespace, "--wait=false"},
	} {
		if _, err := cluster.Command(ctx, "kubectl", args...); err != nil {
			t.Error(err)
		}
	}
}

// applyFlux applies manifests, those without a namespace into Flux's.
func applyFlux(t *testing.T, manifest string) {
	t.Helper()
	must.Succeed(t, pipe(t.Context(), []byte(manifest), "apply", "--server-side", "-n", fluxNamespace, "-f", "-"))
}
