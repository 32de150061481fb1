package policy_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func load(t *testing.T, document string) *policy.Policy {
	t.Helper()
	p, err := policy.Load([]byte(document))
	must.Succeed(t, err)
	return p
}

// refused loads a document that has an error, which says what is wanted.
func refused(t *testing.T, document, want string) {
	t.Helper()
	if _, err := policy.Load([]byte(document)); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s\ngot  %v\nwant %s", document, err, want)
	}
}

func TestWorkersOfANamespaceWithoutARuleHaveTheReleasesImageAlone(t *testing.T) {
	w, all := policy.Default().For("any").Workers, policy.Everything().Workers
	w.Release = "loadtest.dev/worker:v1"
	own := w
	own.OperatorsOwn = true
	for what, allowed := range map[string]bool{
		"image of the release":   w.Image("loadtest.dev/worker:v1"),
		"zone":                   w.NodeSelectorKey("topology.kubernetes.io/zone"),
		"architecture":           w.NodeSelectorKey("kubernetes.io/arch"),
		"any pull policy":        w.PullPolicy(corev1.PullNever),
		"one of the operator":    !own.Secret("loadtest-operator-coordinator"),
		"a Secret by its name":   w.Secret("loadtest-api") && w.Secret("loadtest-"),
		"any other Secret":       !w.Secret("api") && !w.Secret("a-loadtest-") && !w.Secret("loadtest"),
		"other image":            !w.Image("loadtest.dev/worker:v2"),
		"no image":               !w.Image(""),
		"the name of a node":     !w.NodeSelectorKey(corev1.LabelHostname),
		"a role":                 !w.NodeSelectorKey("node-role.kubernetes.io/control-plane"),
		"a label of pods":        !w.LabelKey("team"),
		"an annotation":          !w.AnnotationKey("sidecar.istio.io/inject"),
		"a priority":             !w.PriorityClass("high"),
		"a taint":                !w.Toleration(corev1.Toleration{Key: "node-role.kubernetes.io/control-plane", Operator: corev1.TolerationOpExists}),
		"every taint":            !w.Toleration(corev1.Toleration{Operator: corev1.TolerationOpExists}),
		"everything on a laptop": all.Image("x") && all.Secret("x") && all.PullPolicy(corev1.PullNever) && all.NodeSelectorKey("x") && all.Toleration(corev1.Toleration{Key: "x"}) && all.Toleration(corev1.Toleration{}) && all.LabelKey("x") && all.AnnotationKey("x") && all.PriorityClass("x"),
	} {
		if !allowed {
			t.Errorf("%s: wrong", what)
		}
	}
	for name, want := range map[corev1.ResourceName]bool{"cpu": false, "memory": false, "ephemeral-storage": false, "nvidia.com/gpu": true, "hugepages-2Mi": true} {
		if most, limited := w.Most(name); limited != want || !most.IsZero() {
			t.Errorf("%s: at most %v, %v; want a limit: %v", name, &most, limited, want)
		}
		if _, limited := all.Most(name); limited {
			t.Errorf("%s is limited on a laptop", name)
		}
	}
}

func TestTheFirstRuleOfWorkersThatNamesANamespaceCounts(t *testing.T) {
	p := load(t, `
workers:
  - namespaces: [perf, "team-*"]
    images: ["registry.example.com/loadtest/*", other:v1]
    pullPolicies: [Always]
    nodeSelectorKeys: [pool]
    tolerationKeys: [load, "example.com/*"]
    secrets: ["loadtest-*"]
    labelKeys: ["team", "mesh.example/*"]
    annotationKeys: ["sidecar.istio.io/*"]
    priorityClasses: ["load-*"]
    resources: {cpu: "4", example.com/nic: "1"}
  - secrets: []
    tolerationKeys: ["*"]
    nodeSelectorKeys: ["*"]
`)
	w, rest := p.For("team-a").Workers, p.For("shop").Workers
	for what, right := range map[string]bool{
		"image below the pattern": w.Image("registry.example.com/loadtest/a/b:v1@sha256:0"),
		"image by its name":       w.Image("other:v1"),
		"image above the pattern": !w.Image("registry.example.com/loadtest"),
		"image of a longer host":  !w.Image("registry.example.com.evil.example/loadtest/x"),
		"a pattern in the middle": !w.Image("evil.example/registry.example.com/loadtest/x"),
		"a longer name":           !w.Image("other:v11"),
		"pull policy":             w.PullPolicy(corev1.PullAlways) && !w.PullPolicy(corev1.PullIfNotPresent),
		"label":                   w.NodeSelectorKey("pool") && !w.NodeSelectorKey("topology.kubernetes.io/zone"),
		"taint":                   w.Toleration(corev1.Toleration{Key: "load"}) && w.Toleration(corev1.Toleration{Key: "example.com/a"}) && !w.Toleration(corev1.Toleration{Key: "other"}),
		"every taint":             !w.Toleration(corev1.Toleration{Operator: corev1.TolerationOpExists}),
		"Secret":                  w.Secret("loadtest-api") && w.Secret("loadtest-") && !w.Secret("db"),
		"label of pods":           w.LabelKey("team") && w.LabelKey("mesh.example/a") && !w.LabelKey("app") && !rest.LabelKey("team"),
		"annotation":              w.AnnotationKey("sidecar.istio.io/inject") && !w.AnnotationKey("istio.io/rev") && !rest.AnnotationKey("sidecar.istio.io/inject"),
		"priority":                w.PriorityClass("load-low") && !w.PriorityClass("high") && !rest.PriorityClass("load-low"),
		"the other namespaces":    !rest.Secret("loadtest-api") && rest.Toleration(corev1.Toleration{Operator: corev1.TolerationOpExists}) && rest.NodeSelectorKey("any"),
		"the image of the others": !rest.Image("other:v1"),
	} {
		if !right {
			t.Errorf("%s: wrong", what)
		}
	}
	if most, limited := w.Most("cpu"); !limited || most.String() != "4" {
		t.Errorf("cpu: %v, %v", &most, limited)
	}
	if most, limited := w.Most("example.com/nic"); !limited || most.String() != "1" {
		t.Errorf("nic: %v, %v", &most, limited)
	}
	if _, limited := w.Most("memory"); limited {
		t.Error("memory has a limit")
	}
}

func TestRulesOfWorkersThatMeanNothingAreRefused(t *testing.T) {
	for document, want := range map[string]string{
		`workers: [{images: ["registry.example.com*"]}]`:          `workers[0].images: "registry.example.com*" must have a / before its *`,
		`workers: [{images: ["*/worker"]}]`:                       `workers[0].images: "*/worker" must have a / before its *`,
		`workers: [{images: [""]}]`:                               `workers[0]: a pattern is empty`,
		`workers: [{secrets: [""]}]`:                              `workers[0]: a pattern is empty`,
		`workers: [{labelKeys: [""]}]`:                            `workers[0]: a pattern is empty`,
		`workers: [{annotationKeys: [""]}]`:                       `workers[0]: a pattern is empty`,
		`workers: [{priorityClasses: [""]}]`:                      `workers[0]: a pattern is empty`,
		`workers: [{pullPolicies: [Sometimes]}]`:                  `workers[0].pullPolicies: "Sometimes" must be Always, IfNotPresent or Never`,
		`workers: [{resources: {cpu: "0"}}]`:                      `workers[0].resources.cpu: 0 must be greater than 0`,
		`workers: [{secrets: []}, {namespaces: [a]}]`:             `workers[0]: matches all namespaces, so the rules after it never apply; put it last`,
		`workers: [{serviceAccountName: admin}]`:                  `unknown field "workers[0].serviceAccountName"`,
		`workers: [{namespaces: [a]}, {tolerationKeys: [a, ""]}]`: `workers[1]: a pattern is empty`,
	} {
		refused(t, document, want)
	}
	load(t, `workers: [{images: ["*"]}]`)
}
