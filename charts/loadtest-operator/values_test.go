package chart_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestValuesBecomeArguments(t *testing.T) {
	tests := map[string]struct {
		set  []string
		want []string
	}{
		"default": {
			want: []string{
				"--coordinator-bind-address=:9443",
				"--coordinator-advertise=loadtest-operator-leader.$(POD_NAMESPACE).svc:9443",
				"--coordinator-service=loadtest-operator-leader",
				"--worker-image=loadtest-dev/loadtest-worker:0.1.0",
				"--health-probe-bind-address=:8081",
				"--metrics-bind-address=:8443",
			},
		},
		"everything": {
			set: []string{
				"workerImage.repository=mirror:5000/worker", "workerImage.tag=v1",
				"metrics.secure=false", "metrics.maxLoadTests=50", "metrics.maxRequests=0", "environment.enabled=false", "watchNamespaces={team-a,team-b}",
			},
			want: []string{
				"--coordinator-bind-address=:9443",
				"--coordinator-advertise=loadtest-operator-leader.$(POD_NAMESPACE).svc:9443",
				"--coordinator-service=loadtest-operator-leader",
				"--worker-image=mirror:5000/worker:v1",
				"--health-probe-bind-address=:8081",
				"--metrics-bind-address=:8080",
				"--metrics-secure=false",
				"--metrics-max-loadtests=50",
				"--metrics-max-requests=0",
				"--read-targets=false",
				"--watch-namespaces=team-a,team-b",
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			same.As(t, "arguments", test.want, arguments(t, render(t, sets(test.set)...), release))
		})
	}
}

// An image is pulled by its digest, unless the values have a tag: the digest belongs to the tag of the release.
func TestImagesArePulledByDigest(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0a", 32)
	for set, want := range map[string]string{
		"workerImage.digest=" + digest:                                         "loadtest-dev/loadtest-worker:0.1.0@" + digest,
		"workerImage.digest=" + digest + ",workerImage.tag=v2":                 "loadtest-dev/loadtest-worker:v2",
		"workerImage.digest=" + digest + ",workerImage.repository=mirror/work": "mirror/work:0.1.0@" + digest,
	} {
		if found := arguments(t, render(t, "--set", set), release); !slices.Contains(found, "--worker-image="+want) {
			t.Errorf("%s: the arguments are %q, want the image %s", set, found, want)
		}
	}
}

// TestReleasesStandBesideEachOther says that two releases do not share an object by chance.
func TestReleasesStandBesideEachOther(t *testing.T) {
	objects, err := helm(t, "perf", "--set", "watchNamespaces={team-a}")
	must.Succeed(t, err)
	const name = "perf-loadtest-operator"
	for _, object := range objects {
		if !strings.HasPrefix(object.GetName(), name) {
			t.Errorf("%s %s is not named for the release", object.GetKind(), object.GetName())
		}
		rules, _, _ := unstructured.NestedSlice(object.Object, "rules")
		for _, rule := range rules {
			names, _, _ := unstructured.NestedStringSlice(rule.(map[string]any), "resourceNames")
			for _, of := range names {
				if of != "kubernetes" && !strings.HasPrefix(of, name) {
					t.Errorf("%s %s gives a right to %s, which another release may have", object.GetKind(), object.GetName(), of)
				}
			}
		}
	}
	args := arguments(t, objects, name)
	for _, want := range []string{
		"--coordinator-advertise=" + name + "-leader.$(POD_NAMESPACE).svc:9443",
		"--coordinator-service=" + name + "-leader",
		"--coordinator-secret=" + name + "-coordinator",
		"--config-map=" + name + "-config",
		"--lease=" + name + ".loadtest.dev",
	} {
		if !slices.Contains(args, want) {
			t.Errorf("arguments %q lack %s", args, want)
		}
	}
}

// TestRightsAreOfTheWatchedNamespacesAlone says that an operator that runs the LoadTests of two
// namespaces has no rights in the others but to review who asks it, and to learn the
// addresses of nodes, of the API server and of itself.
func TestRightsAreOfTheWatchedNamespacesAlone(t *testing.T) {
	everywhere := render(t)
	objects := render(t, "--set", "watchNamespaces={team-a,team-b}")

	all := list(t, find(t, everywhere, "ClusterRole", release+"-manager"), "rules")
	cluster := list(t, find(t, objects, "ClusterRole", release+"-manager"), "rules")
	if diff := cmp.Diff([]any{
		map[string]any{"apiGroups": []any{""}, "resources": []any{"nodes"}, "verbs": []any{"list"}},
		map[string]any{"apiGroups": []any{""}, "resources": []any{"services"}, "resourceNames": []any{"kubernetes"}, "verbs": []any{"get"}},
		map[string]any{"apiGroups": []any{"discovery.k8s.io"}, "resources": []any{"endpointslices"}, "resourceNames": []any{"kubernetes"}, "verbs": []any{"get"}},
		map[string]any{"apiGroups": []any{"authentication.k8s.io"}, "resources": []any{"tokenreviews"}, "verbs": []any{"create"}},
		map[string]any{"apiGroups": []any{"authorization.k8s.io"}, "resources": []any{"subjectaccessreviews"}, "verbs": []any{"create"}},
	}, cluster); diff != "" {
		t.Errorf("rights in the whole cluster (-want +got):\n%s", diff)
	}
	own := list(t, find(t, objects, "Role", release+"-manager"), "rules")
	for _, rule := range []map[string]any{
		{"apiGroups": []any{""}, "resources": []any{"pods"}, "verbs": []any{"list"}},
		{"apiGroups": []any{""}, "resources": []any{"services"}, "verbs": []any{"get"}},
		{"apiGroups": []any{"discovery.k8s.io"}, "resources": []any{"endpointslices"}, "verbs": []any{"list"}},
	} {
		if !slices.ContainsFunc(own, func(r any) bool { return cmp.Equal(r, any(rule)) }) {
			t.Errorf("no right in its own namespace to learn its own addresses: %v", rule)
		}
	}
	var namespaces []string
	for _, object := range objects {
		if object.GetName() != release+"-tests" {
			continue
		}
		namespaces = append(namespaces, object.GetKind()+" in "+object.GetNamespace())
		if object.GetKind() != "Role" {
			continue
		}
		got := sorted(slices.Concat(cluster, list(t, object.Object, "rules")))
		if diff := cmp.Diff(sorted(all), got); diff != "" {
			t.Errorf("rights in %s and the cluster (-everywhere +got):\n%s", object.GetNamespace(), diff)
		}
	}
	want := []string{"Role in team-a", "RoleBinding in team-a", "Role in team-b", "RoleBinding in team-b"}
	slices.Sort(want)
	slices.Sort(namespaces)
	same.As(t, "objects in the namespaces", want, namespaces)
}

// TestValuesThatCannotWorkAreRefused has a row for each kind of value that cannot work.
func TestValuesThatCannotWorkAreRefused(t *testing.T) {
	tests := map[string]struct{ set, want string }{
		"a misspelled value":        {"imagePullSecret=a", "imagePullSecret"},
		"an image without a name":   {"image.repository=", "image/repository"},
		"a tag with a colon":        {"image.tag=a:b", "image/tag"},
		"a digest that is cut off":  {"image.digest=sha256:0a", "image/digest"},
		"an unknown pull policy":    {"image.pullPolicy=Sometimes", "image/pullPolicy"},
		"a worker image with a tag": {"workerImage.repository=Worker", "workerImage/repository"},
		"a field that is unknown":   {"config.target=a", "config"},
		"rules that are no list":    {"config.workers=a", "config/workers"},
		"hours without an end":      {"config.quietHours[0].from=a", "config/quietHours/0"},
		"a namespace that is none":  {"watchNamespaces={Team_A}", "watchNamespaces/0"},
		"a namespace twice":         {"watchNamespaces={a,a}", "watchNamespaces"},
		"an interval without unit":  {"metrics.serviceMonitor.interval=30", "metrics/serviceMonitor/interval"},
		"units in no order":         {"metrics.serviceMonitor.interval=30s1m", "metrics/serviceMonitor/interval"},
		"peers that are no list":    {"networkPolicy.metricsFrom=all", "networkPolicy/metricsFrom"},
		"a reader without a home":   {"metrics.readers[0].name=prometheus", "metrics/readers/0"},
		"a priority in words":       {"priorityClassName=Very High", "priorityClassName"},
		"no way to names":           {"networkPolicy.workers.dns=[]", "networkPolicy/workers/dns"},
		"root":                      {"runAsUser=0", "runAsUser"},
		"no replica":                {"replicas=0", "replicas"},
		"a toleration that is none": {"tolerations={a}", "tolerations/0"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := helm(t, release, "--set", test.set)
			if err == nil {
				t.Fatalf("--set %s is accepted", test.set)
			}
			if !strings.Contains(err.Error(), "schema") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the refusal of %s does not name %s: %v", test.set, test.want, err)
			}
		})
	}
}

func arguments(t *testing.T, objects []unstructured.Unstructured, name string) []string {
	t.Helper()
	deployment := find(t, objects, "Deployment", name)
	containers := list(t, deployment, "spec", "template", "spec", "containers")
	var args []string
	for _, arg := range list(t, containers[0].(map[string]any), "args") {
		args = append(args, arg.(string))
	}
	return args
}

func sets(values []string) []string {
	var args []string
	for _, value := range values {
		args = append(args, "--set", value)
	}
	return args
}
