package argocd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v3/applicationset/utils"
	appv1 "github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/sync/common"
	"github.com/argoproj/gitops-engine/pkg/sync/hook"
	"github.com/argoproj/gitops-engine/pkg/sync/syncwaves"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
)

// typed is an example as Argo CD's type; a field that the type does not have is an error.
func typed(t *testing.T, file string, into any) {
	t.Helper()
	o := documents(t, "examples/argocd/"+file)[0]
	must.Succeed(t, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, into, true))
}

func TestExampleOfAnApplication(t *testing.T) {
	var app appv1.Application
	typed(t, "application.yaml", &app)
	if !app.Spec.SyncPolicy.IsAutomatedSyncEnabled() {
		t.Error("it does not sync by itself")
	}
	t.Attr("seen", "path "+app.Spec.Source.Path+", automated")
}

// TestExampleOfAnApplicationSet renders the template for each element, as the controller
// does.
func TestExampleOfAnApplicationSet(t *testing.T) {
	var set appv1.ApplicationSet
	typed(t, "applicationset.yaml", &set)
	template := &appv1.Application{Spec: set.Spec.Template.Spec}
	template.Name = set.Spec.Template.Name
	var names []string
	for _, element := range set.Spec.Generators[0].List.Elements {
		var params map[string]any
		must.Succeed(t, json.Unmarshal(element.Raw, &params))
		app, err := (&utils.Render{}).RenderTemplateParams(template, nil, params, set.Spec.GoTemplate, set.Spec.GoTemplateOptions)
		must.Succeed(t, err)
		if _, err := os.Stat(filepath.Join(repository, app.Spec.Sources[0].Path, app.Spec.Sources[0].Helm.ValueFiles[0])); err != nil {
			t.Error(err)
		}
		names = append(names, app.Name)
	}
	t.Attr("seen", strings.Join(names, ", "))
}

// TestExamplesOfHookAndWave: Argo CD takes the annotations for what they are meant to be.
func TestExamplesOfHookAndWave(t *testing.T) {
	gate := documents(t, "examples/argocd/hook/loadtest.yaml")[0].Unstructured
	types, policies := hook.Types(gate), hook.DeletePolicies(gate)
	if len(types) != 1 || types[0] != common.HookTypePostSync || len(policies) != 1 || policies[0] != common.HookDeletePolicyBeforeHookCreation {
		t.Errorf("hook %v, deleted %v", types, policies)
	}
	limit := documents(t, "examples/argocd/waves/loadtest.yaml")[0].Unstructured
	released := documents(t, "examples/argocd/waves/released.yaml")[0].Unstructured
	if hook.IsHook(limit) || syncwaves.Wave(limit) >= syncwaves.Wave(released) {
		t.Errorf("the LoadTest is in wave %d, what waits for it in wave %d", syncwaves.Wave(limit), syncwaves.Wave(released))
	}
	t.Attr("seen", string(types[0])+", "+string(policies[0])+"; wave 1 before wave 2")
}
