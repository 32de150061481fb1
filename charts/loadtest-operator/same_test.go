package chart_test

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// chartLabels are those that only the chart sets.
var chartLabels = []string{
	"helm.sh/chart", "app.kubernetes.io/instance", "app.kubernetes.io/managed-by", "app.kubernetes.io/version",
}

// TestChartMatchesConfig compares every object whole, but for those
// labels and the order of rules. What helm test creates is Helm's alone.
func TestChartMatchesConfig(t *testing.T) {
	chart := byName(t, render(t, "--skip-tests", "--values", "values-local.yaml"))
	config := byName(t, kustomize(t, "default"))
	// Helm creates the namespace itself, or finds it; and it installs the CRD
	// from crds/, which is compared below, byte by byte.
	delete(config, "Namespace "+namespace)
	delete(config, "CustomResourceDefinition loadtests.loadtest.dev")
	delete(config, "CustomResourceDefinition loadtestschedules.loadtest.dev")
	if len(config) < 10 {
		t.Errorf("config/default has %d objects, which is too few to be true", len(config))
	}
	if diff := gocmp.Diff(config, chart); diff != "" {
		t.Errorf("objects of the chart (-config/default +chart):\n%s", diff)
	}
}

// The overlay in the comment of config/default names both images.
func TestOverlayNamesTheImages(t *testing.T) {
	text := string(must.ReadFile(t, "../../config/default/kustomization.yaml"))
	var overlay strings.Builder
	for line := range strings.Lines(text) {
		if indented, ok := strings.CutPrefix(line, "#   "); ok && !strings.HasPrefix(indented, "kubectl") {
			overlay.WriteString(indented)
		}
	}
	folder := t.TempDir()
	config, err := filepath.Abs("../../config")
	must.Succeed(t, err)
	base, err := filepath.Rel(folder, config)
	must.Succeed(t, err)
	must.Succeed(t, os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(strings.Replace(overlay.String(), "../config", base, 1)), 0o600))
	output, err := apiserver.Kustomize(t.Context(), folder)
	must.Succeed(t, err)
	operator := find(t, decode(t, output), "Deployment", release)
	container := list(t, operator, "spec", "template", "spec", "containers")[0].(map[string]any)
	args := container["args"].([]any)
	same.As(t, "images", []any{"ghcr.io/me/operator:1.2.3", "--worker-image=ghcr.io/me/worker:1.2.3"}, []any{container["image"], args[3]})
	same.As(t, "arguments of a worker image", 1, strings.Count(fmt.Sprint(args), "--worker-image="))
}

func TestCRDsMatchGenerated(t *testing.T) {
	files := []string{"loadtest.dev_loadtests.yaml", "loadtest.dev_loadtestschedules.yaml"}
	for _, file := range files {
		generated := must.ReadFile(t, filepath.Join("..", "..", "config", "crd", "bases", file))
		chart := must.ReadFile(t, filepath.Join("crds", file))
		if !bytes.Equal(generated, chart) {
			t.Errorf("crds/%s is not what controller-gen wrote to config/crd/bases; run `make generate`", file)
		}
	}
	entries, err := os.ReadDir("crds")
	if err != nil || len(entries) != len(files) {
		t.Errorf("crds holds %d files, want %d (%v)", len(entries), len(files), err)
	}
}

// byName indexes objects and takes from them what may differ.
func byName(t *testing.T, objects []unstructured.Unstructured) map[string]map[string]any {
	t.Helper()
	named := map[string]map[string]any{}
	for _, object := range objects {
		key := fmt.Sprintf("%s %s", object.GetKind(), object.GetName())
		if _, found := named[key]; found {
			t.Errorf("%s is there twice", key)
		}
		forgetLabels(object.Object)
		if rules, found, _ := unstructured.NestedSlice(object.Object, "rules"); found {
			object.Object["rules"] = sorted(rules)
		}
		named[key] = object.Object
	}
	return named
}

// forgetLabels removes the chart's own labels wherever they are.
func forgetLabels(value any) {
	switch value := value.(type) {
	case map[string]any:
		for _, label := range chartLabels {
			delete(value, label)
		}
		for _, below := range value {
			forgetLabels(below)
		}
	case []any:
		for _, below := range value {
			forgetLabels(below)
		}
	}
}

// sorted orders RBAC rules and the verbs in them, neither of which have an order.
func sorted(rules []any) []any {
	for _, rule := range rules {
		slices.SortFunc(rule.(map[string]any)["verbs"].([]any), byText)
	}
	slices.SortFunc(rules, byText)
	return rules
}

func byText(a, b any) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) }

// TestComparisonDetectsDifferences shows that the comparison can fail.
func TestComparisonDetectsDifferences(t *testing.T) {
	for name, change := range map[string]func(objects map[string]map[string]any){
		"a verb": func(objects map[string]map[string]any) {
			rules := objects["ClusterRole loadtest-operator-manager"]["rules"].([]any)
			rules[0].(map[string]any)["verbs"] = []any{"*"}
		},
		"an argument": func(objects map[string]map[string]any) {
			spec := objects["Deployment loadtest-operator"]["spec"].(map[string]any)
			pod := spec["template"].(map[string]any)["spec"].(map[string]any)
			pod["containers"].([]any)[0].(map[string]any)["args"] = []any{"--metrics-bind-address=0"}
		},
		"an object": func(objects map[string]map[string]any) {
			delete(objects, "Service loadtest-operator-leader")
		},
	} {
		before, after := byName(t, render(t)), byName(t, render(t))
		if diff := gocmp.Diff(before, after); diff != "" {
			t.Fatalf("two renders differ (-first +second):\n%s", diff)
		}
		change(after)
		if gocmp.Equal(before, after) {
			t.Errorf("a change of %s is not seen", name)
		}
	}
}
