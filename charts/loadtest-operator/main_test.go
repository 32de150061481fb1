package chart_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const (
	namespace = "loadtest-system"
	release   = "loadtest-operator"
	// kubeVersion is passed to helm, which guesses without a cluster.
	kubeVersion = "1.36"
)

func TestMain(m *testing.M) {
	apiserver.Start(m, apiserver.ServiceMonitor, apiserver.PodMonitor, apiserver.PrometheusRule)
}

// helm renders the chart under a release name, and returns what helm says when
// it refuses to.
func helm(t *testing.T, release string, args ...string) ([]unstructured.Unstructured, error) {
	t.Helper()
	args = append([]string{"template", release, ".", "--namespace", namespace, "--kube-version", kubeVersion}, args...)
	output, err := run(t, args...)
	if err != nil {
		return nil, err
	}
	return decode(t, output), nil
}

// render is helm for values that are good.
func render(t *testing.T, args ...string) []unstructured.Unstructured {
	t.Helper()
	objects, err := helm(t, release, args...)
	must.Succeed(t, err)
	return objects
}

// kustomize builds a folder below config.
func kustomize(t *testing.T, folder string) []unstructured.Unstructured {
	t.Helper()
	output, err := apiserver.Kustomize(t.Context(), filepath.Join("..", "..", "config", folder))
	must.Succeed(t, err)
	return decode(t, output)
}

// run starts helm: the one that HELM names, or bin/helm.
func run(t *testing.T, args ...string) ([]byte, error) {
	t.Helper()
	program := os.Getenv("HELM")
	if program == "" {
		program = filepath.Join("..", "..", "bin", "helm")
		if _, err := os.Stat(program); err != nil {
			t.Fatal("HELM is not set and there is no bin/helm; run `make test`, which builds it")
		}
	}
	command := exec.CommandContext(t.Context(), program, args...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("helm %s: %w: %s", strings.Join(args, " "), err, stderr.String())
	}
	return stdout.Bytes(), nil
}

// decode splits a stream of YAML documents.
func decode(t *testing.T, stream []byte) []unstructured.Unstructured {
	t.Helper()
	var objects []unstructured.Unstructured
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(stream), 4096)
	for {
		var object unstructured.Unstructured
		switch err := decoder.Decode(&object.Object); {
		case errors.Is(err, io.EOF):
			return objects
		case err != nil:
			t.Fatal(err)
		case len(object.Object) > 0:
			objects = append(objects, object)
		}
	}
}

// find returns the object of a kind and name.
func find(t *testing.T, objects []unstructured.Unstructured, kind, name string) map[string]any {
	t.Helper()
	for _, object := range objects {
		if object.GetKind() == kind && object.GetName() == name {
			return object.Object
		}
	}
	t.Fatalf("there is no %s %s", kind, name)
	return nil
}

// container is the operator's.
func container(t *testing.T, objects []unstructured.Unstructured) map[string]any {
	t.Helper()
	return list(t, find(t, objects, "Deployment", release), "spec", "template", "spec", "containers")[0].(map[string]any)
}

// mounts checks what volumes the operator's pod has, and where they are mounted.
func mounts(t *testing.T, objects []unstructured.Unstructured, volumes, mounts []any) {
	t.Helper()
	same.As(t, "volumes", volumes, list(t, find(t, objects, "Deployment", release), "spec", "template", "spec", "volumes"))
	same.As(t, "mounts", mounts, list(t, container(t, objects), "volumeMounts"))
}

// isNamedOnce checks that a Secret is in the operator's pods alone.
func isNamedOnce(t *testing.T, objects []unstructured.Unstructured, secret string) {
	t.Helper()
	named := 0
	for _, o := range objects {
		text, err := o.MarshalJSON()
		must.Succeed(t, err)
		named += strings.Count(string(text), secret)
	}
	same.As(t, "how often the Secret is named", 1, named)
}

// list returns the list at a path of an object, which must be there.
func list(t *testing.T, object map[string]any, path ...string) []any {
	t.Helper()
	found, ok, err := unstructured.NestedSlice(object, path...)
	if !ok || err != nil {
		t.Fatalf("there is no list at %s: %v", strings.Join(path, "."), err)
	}
	return found
}
