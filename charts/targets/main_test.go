package targets

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestMain(m *testing.M) { apiserver.Start(m, apiserver.ServiceMonitor) }

// kubeVersion is passed to helm, which guesses without a cluster.
const kubeVersion = "1.36"

// helm returns a command of the helm that $HELM names, or the one that make
// builds.
func helm(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path := os.Getenv("HELM")
	if path == "" {
		path = filepath.Join("..", "..", "bin", "helm")
		if _, err := os.Stat(path); err != nil {
			t.Fatalf("HELM is not set and there is no bin/helm; run `make test`, which builds it: %v", err)
		}
	}
	return exec.CommandContext(t.Context(), path, args...)
}

// template renders the chart, and returns what helm wrote.
func template(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, mistakes bytes.Buffer
	command := helm(t, append([]string{"template", "tried", ".", "--namespace", "demo", "--kube-version", kubeVersion}, args...)...)
	command.Stdout, command.Stderr = &out, &mistakes
	err = command.Run()
	return out.String(), mistakes.String(), err
}

// release is a rendered chart, its objects by kind/name.
type release map[string]unstructured.Unstructured

func render(t *testing.T, args ...string) release {
	t.Helper()
	out, mistakes, err := template(t, args...)
	if err != nil {
		t.Fatalf("helm template %v: %v\n%s", args, err, mistakes)
	}
	objects := release{}
	for documents := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(out))); ; {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return objects
		}
		must.Succeed(t, err)
		var o unstructured.Unstructured
		// Strictly, as post-renderers read: a key that is there twice is a mistake.
		if err := yaml.UnmarshalStrict(document, &o.Object); err != nil {
			t.Fatalf("rendered YAML: %v\n%s", err, document)
		}
		if len(o.Object) == 0 {
			continue
		}
		key := o.GetKind() + "/" + o.GetName()
		if _, twice := objects[key]; twice {
			t.Fatalf("%s is rendered twice", key)
		}
		objects[key] = o
	}
}

func (r release) names() []string { return slices.Sorted(maps.Keys(r)) }

// as returns an object in its own type.
func as[T any](t *testing.T, r release, key string) T {
	t.Helper()
	o, found := r[key]
	if !found {
		t.Fatalf("there is no %s in %v", key, r.names())
	}
	var typed T
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &typed); err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	return typed
}

// pods are the pods of all workloads, by the workload's kind/name.
func (r release) pods(t *testing.T) map[string]corev1.PodTemplateSpec {
	t.Helper()
	found := map[string]corev1.PodTemplateSpec{}
	for key, o := range r {
		pod := o.Object
		if o.GetKind() != "Pod" {
			var has bool
			if pod, has, _ = unstructured.NestedMap(o.Object, "spec", "template"); !has {
				continue
			}
		}
		var typed corev1.PodTemplateSpec
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(pod, &typed); err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		if len(typed.Spec.Containers) != 1 {
			t.Fatalf("%s has %d containers, want 1", key, len(typed.Spec.Containers))
		}
		found[key] = typed
	}
	return found
}

// container is the only container of a workload.
func (r release) container(t *testing.T, key string) corev1.Container {
	t.Helper()
	pod, found := r.pods(t)[key]
	if !found {
		t.Fatalf("there is no workload %s in %v", key, r.names())
	}
	return pod.Spec.Containers[0]
}

// env are the variables of a workload; one from a Secret is shown as SECRET:KEY in
// angle brackets.
func (r release) env(t *testing.T, key string) map[string]string {
	t.Helper()
	env := map[string]string{}
	for _, e := range r.container(t, key).Env {
		env[e.Name] = e.Value
		if e.ValueFrom != nil {
			env[e.Name] = "<" + e.ValueFrom.SecretKeyRef.Name + ":" + e.ValueFrom.SecretKeyRef.Key + ">"
		}
	}
	return env
}

// presets are the files that a person chooses one of.
func presets(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("values-seed-*.yaml")
	if err != nil || len(files) != 17 {
		t.Fatalf("presets = %v, %v; want 17", files, err)
	}
	return append(files, "values-tokens.yaml")
}

// everything enables all components, which no preset does.
const everything = "shortener.enabled=true,shortener.replicas=2,shortener.nginx.enabled=true,shortener.connections=pgbouncer," +
	"shortener.cache.enabled=true,shortener.clicks.mode=kafka,shortener.clicks.consumers=2,shortener.seed.rows=900000,postgres.shards=3," +
	"eventstore.enabled=true,eventstore.tenants={one,two},exporters.redis.enabled=true,exporters.postgres.enabled=true,ratelimiter.service.grpcPort=9090,eventstore.service.grpcPort=9090," +
	"tokens.enabled=true,tokens.replicas=2"

// variants are the arguments of every way in which the chart is installed: each
// preset, with official images and with local ones, and all targets at once.
func variants(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{
		"default":    nil,
		"everything": {"--set", everything, "--api-versions", "monitoring.coreos.com/v1"},
		"everything without volumes": {"--values", "values-local.yaml", "--set", everything,
			"--set", "postgres.persistence.enabled=false,kafka.persistence.enabled=false,eventstore.persistence.enabled=false"},
	}
	for _, file := range presets(t) {
		name := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(file, "values-"), "seed-"), ".yaml")
		found[name] = []string{"--values", file}
		found[name+", local"] = []string{"--values", file, "--values", "values-local.yaml"}
	}
	return found
}
