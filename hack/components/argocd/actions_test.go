package argocd

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appv1 "github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v3/util/lua"
	jsonpatch "github.com/evanphx/json-patch"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
)

// TestActionsAreOfferedByPhase: an action is offered when it can do something, and only then.
func TestActionsAreOfferedByPhase(t *testing.T) {
	vm := engine(t)
	for _, d := range statuses(t) {
		t.Run(d.name, func(t *testing.T) {
			var want []string
			switch {
			case field(d.Unstructured, "status", "verdict") != "":
				want = []string{"rerun"}
			case flag(d.Unstructured, "spec", "terminate"):
			case flag(d.Unstructured, "spec", "suspend"):
				want = []string{"cancel", "resume"}
			default:
				want = []string{"cancel"}
			}
			got := offered(t, vm, d.Unstructured)
			if !slices.Equal(got, want) {
				t.Errorf("%q are offered, want %q", got, want)
			}
			t.Attr("seen", strings.Join(append([]string{field(d.Unstructured, "status", "phase") + ":"}, got...), " "))
		})
	}
}

func offered(t *testing.T, vm lua.VM, o *unstructured.Unstructured) (names []string) {
	t.Helper()
	scripts, err := vm.GetResourceActionDiscovery(o)
	must.Succeed(t, err)
	actions, err := vm.ExecuteResourceActionDiscovery(o, scripts)
	must.Succeed(t, err)
	for _, a := range actions {
		if a.Disabled || a.DisplayName == "" || a.IconClass == "" {
			t.Errorf("action %+v has no name for people or no icon, or is disabled", a)
		}
		names = append(names, a.Name)
	}
	slices.Sort(names)
	return names
}

// act runs an action as Argo CD's server does.
func act(t *testing.T, vm lua.VM, o *unstructured.Unstructured, name string) ([]lua.ImpactedResource, error) {
	t.Helper()
	action, err := vm.GetResourceAction(o, name)
	must.Succeed(t, err)
	if action == (appv1.ResourceActionDefinition{}) {
		t.Fatalf("no action %s", name)
	}
	return vm.ExecuteResourceAction(o, action.ActionLua, nil)
}

// patchOf is the patch that an action has Argo CD's server make.
func patchOf(t *testing.T, vm lua.VM, o *unstructured.Unstructured, name string) string {
	t.Helper()
	before, err := json.Marshal(o)
	must.Succeed(t, err)
	impacted, err := act(t, vm, o, name)
	must.Succeed(t, err)
	if len(impacted) != 1 || impacted[0].K8SOperation != lua.PatchOperation {
		t.Fatalf("%s does %+v, want one patch", name, impacted)
	}
	after, err := json.Marshal(impacted[0].UnstructuredObj)
	must.Succeed(t, err)
	patch, err := jsonpatch.CreateMergePatch(before, after)
	must.Succeed(t, err)
	return string(patch)
}

// TestActionsPatchOneField: nothing but their field is in the patch, whatever the status
// holds: another would be refused, as a run that has started cannot be changed.
func TestActionsPatchOneField(t *testing.T) {
	vm, done := engine(t), map[string]int{}
	for _, d := range statuses(t) {
		for _, name := range offered(t, vm, d.Unstructured) {
			want := map[string]string{"cancel": `{"spec":{"terminate":true}}`, "resume": `{"spec":{"suspend":false}}`}[name]
			if want == "" {
				continue
			}
			same.As(t, fmt.Sprintf("%s of %s: the patch", name, d.name), want, patchOf(t, vm, d.Unstructured, name))
			done[name]++
		}
	}
	if done["cancel"] == 0 || done["resume"] == 0 {
		t.Errorf("actions were run %v times", done)
	}
	t.Attr("seen", `{"spec":{"terminate":true}}, {"spec":{"suspend":false}}`)
}

// TestActionsOfAFinishedRun: a page that is out of date offers what cannot be done any more.
func TestActionsOfAFinishedRun(t *testing.T) {
	vm, words := engine(t), ""
	for _, d := range statuses(t) {
		if field(d.Unstructured, "status", "verdict") == "" {
			continue
		}
		for _, name := range []string{"cancel", "resume"} {
			got, err := act(t, vm, d.Unstructured, name)
			if err == nil || !strings.Contains(err.Error(), "has finished already") {
				t.Errorf("%s of %s: %+v, %v", name, d.name, got, err)
				continue
			}
			words = err.Error()
		}
	}
	t.Attr("seen", words)
}

// TestARerunIsACopyWithoutItsResult: the LoadTest that the action creates is that of kubectl loadtest rerun. A test
// of that command reads the same files.
func TestARerunIsACopyWithoutItsResult(t *testing.T) {
	vm := engine(t)
	files, err := filepath.Glob("testdata/rerun/*.yaml")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			both := documents(t, filepath.Join("hack/components/argocd", file))
			impacted, err := act(t, vm, both[0].Unstructured, "rerun")
			must.Succeed(t, err)
			if len(impacted) != 1 || impacted[0].K8SOperation != lua.CreateOperation {
				t.Fatalf("it does %+v, want one creation", impacted)
			}
			got, want := text(t, impacted[0].UnstructuredObj), text(t, both[1].Unstructured)
			if got != want {
				t.Errorf("it creates\n%s\nwant\n%s", got, want)
			}
			t.Attr("seen", "creates "+impacted[0].UnstructuredObj.GetGenerateName()+"…")
		})
	}
}

// TestRerunOfWhatCannotBeCopied: an action does not know an empty list from an empty object,
// and must not guess.
func TestRerunOfWhatCannotBeCopied(t *testing.T) {
	vm := engine(t)
	o := documents(t, "hack/components/argocd/testdata/rerun/plain.yaml")[0].Unstructured
	must.Succeed(t, unstructured.SetNestedMap(o.Object, map[string]any{}, "spec", "worker", "affinity"))
	if got := offered(t, vm, o); len(got) > 0 {
		t.Errorf("%q are offered", got)
	}
	got, err := act(t, vm, o, "rerun")
	if err == nil || !strings.Contains(err.Error(), "kubectl loadtest rerun checkout") {
		t.Fatalf("it does %+v, %v, want an error with the way out", got, err)
	}
	t.Attr("seen", err.Error())
}

// TestNothingIsOfferedWhileItIsDeleted: it has finished or is ended.
func TestNothingIsOfferedWhileItIsDeleted(t *testing.T) {
	vm := engine(t)
	for _, d := range statuses(t) {
		d.Object["metadata"].(map[string]any)["deletionTimestamp"] = "2026-11-20T10:00:00Z"
		if got := offered(t, vm, d.Unstructured); len(got) > 0 {
			t.Errorf("%s: %q are offered", d.name, got)
		}
	}
}

func text(t *testing.T, o *unstructured.Unstructured) string {
	t.Helper()
	content, err := yaml.Marshal(o)
	must.Succeed(t, err)
	return string(content)
}

// TestRerunOfALongName: Lua without its library for strings cannot shorten a name.
func TestRerunOfALongName(t *testing.T) {
	vm := engine(t)
	o := documents(t, "hack/components/argocd/testdata/rerun/plain.yaml")[0].Unstructured
	for length, want := range map[int]string{46: strings.Repeat("x", 46) + "-", 47: "rerun-"} {
		o.SetName(strings.Repeat("x", length))
		impacted, err := act(t, vm, o, "rerun")
		must.Succeed(t, err)
		got := impacted[0].UnstructuredObj
		if got.GetGenerateName() != want || got.GetAnnotations()["loadtest.dev/rerun-of"] != o.GetName() {
			t.Errorf("a name of %d characters: %q, annotations %v", length, got.GetGenerateName(), got.GetAnnotations())
		}
	}
}
