package chart_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/test/golden"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// argoCDPatch is the file of config/argocd, which -update writes.
var argoCDPatch = filepath.Join("..", "..", "config", "argocd", "argocd-cm.yaml")

// patchOf is the patch that the chart renders.
func patchOf(t *testing.T, set ...string) string {
	t.Helper()
	objects := render(t, sets(append([]string{"argocd.enabled=true"}, set...))...)
	patch, _, _ := unstructured.NestedString(find(t, objects, "ConfigMap", release+"-argocd"), "data", "argocd-cm.yaml")
	return patch
}

func TestArgoCDPatchIsThatOfConfig(t *testing.T) {
	golden.Check(t, argoCDPatch, patchOf(t))
	objects := kustomize(t, "argocd")
	if len(objects) != 1 || objects[0].GetName() != "argocd-cm" || objects[0].GetNamespace() != "argocd" {
		t.Errorf("config/argocd has %d objects, want Argo CD's ConfigMap alone", len(objects))
	}
}

// Each script of files/argocd is in the patch, and nothing is but scripts.
func TestArgoCDPatchHasEveryScript(t *testing.T) {
	var patch struct{ Data map[string]string }
	must.Succeed(t, yaml.Unmarshal([]byte(patchOf(t)), &patch))
	for _, kind := range []string{"LoadTest", "LoadTestSchedule"} {
		folder := filepath.Join("files", "argocd", kind)
		if diff := cmp.Diff(script(t, folder, "health.lua"), patch.Data["resource.customizations.health.loadtest.dev_"+kind]); diff != "" {
			t.Errorf("health of %s (-file +patch):\n%s", kind, diff)
		}
		var actions struct {
			Discovery   string `json:"discovery.lua"`
			Definitions []struct {
				Name   string
				Action string `json:"action.lua"`
			}
		}
		must.Succeed(t, yaml.UnmarshalStrict([]byte(patch.Data["resource.customizations.actions.loadtest.dev_"+kind]), &actions))
		got := map[string]string{"discovery.lua": actions.Discovery}
		for _, d := range actions.Definitions {
			got[d.Name+".lua"] = d.Action
		}
		want := map[string]string{}
		files, err := filepath.Glob(filepath.Join(folder, "actions", "*.lua"))
		if err != nil || len(files) < 3 {
			t.Fatal(files, err)
		}
		for _, file := range files {
			want[filepath.Base(file)] = script(t, file)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("actions of %s (-files +patch):\n%s", kind, diff)
		}
	}
	if len(patch.Data) != 4 {
		t.Errorf("the patch has %d keys, want 4", len(patch.Data))
	}
}

func script(t *testing.T, path ...string) string {
	t.Helper()
	content := must.ReadFile(t, filepath.Join(path...))
	return string(content)
}

func TestArgoCDPatchIsOffByDefault(t *testing.T) {
	for _, object := range render(t) {
		if strings.Contains(object.GetName(), "argocd") {
			t.Errorf("%s %s is there by default", object.GetKind(), object.GetName())
		}
	}
	if patch := patchOf(t, "argocd.namespace=delivery"); !strings.Contains(patch, "\n  namespace: delivery\n") {
		t.Error("argocd.namespace does not say where Argo CD is")
	}
}
