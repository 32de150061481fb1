package command

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	yamlstream "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

// readManifests reads the LoadTests of files in order; "-" is the standard
// input. They stay as they were written: the API server says which fields it
// does not know.
func readManifests(paths []string, stdin io.Reader) ([]*unstructured.Unstructured, error) {
	return readObjects(paths, stdin, checkLoadTest)
}

// readObjects reads the objects of files in order. Each has to pass the check, and each
// file to hold a LoadTest.
func readObjects(paths []string, stdin io.Reader, check check) ([]*unstructured.Unstructured, error) {
	var list []*unstructured.Unstructured
	for _, path := range paths {
		found, err := readFile(path, stdin, check)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(found, isLoadTest) {
			return nil, fmt.Errorf("-f %s: holds no LoadTest", path)
		}
		list = append(list, found...)
	}
	return list, nil
}

// check refuses an object.
type check func(*unstructured.Unstructured) error

func readFile(path string, stdin io.Reader, check check) ([]*unstructured.Unstructured, error) {
	if path == "-" {
		return parse(path, stdin, check)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("-f %s: %w", path, errors.Unwrap(err))
	}
	defer func() { _ = file.Close() }()
	return parse(path, file, check)
}

// parse reads the documents of a YAML stream; empty ones do not count.
func parse(path string, input io.Reader, check check) ([]*unstructured.Unstructured, error) {
	var list []*unstructured.Unstructured
	documents := yamlstream.NewYAMLReader(bufio.NewReader(input))
	for n := 1; ; n++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, fmt.Errorf("-f %s: %w", path, err)
		}
		object, err := decode(document)
		if err == nil && object != nil {
			list, err = append(list, object), check(object)
		}
		if err != nil {
			return nil, fmt.Errorf("-f %s: document %d: %w", path, n, err)
		}
	}
}

// decode returns nil for a document without content.
func decode(document []byte) (*unstructured.Unstructured, error) {
	content, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(content, []byte("null")) {
		return nil, nil
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(content); err != nil {
		return nil, fmt.Errorf("is no Kubernetes object: %w", err)
	}
	return object, nil
}

var loadTestKind = v1alpha1.GroupVersion.WithKind("LoadTest")

func isLoadTest(object *unstructured.Unstructured) bool {
	return object.GroupVersionKind() == loadTestKind
}

// checkLoadTest refuses what is not a LoadTest with a name.
func checkLoadTest(object *unstructured.Unstructured) error {
	if gvk := object.GroupVersionKind(); !isLoadTest(object) {
		return fmt.Errorf("is a %s of %s, not a LoadTest of %s; apply other objects with kubectl apply -f", gvk.Kind, gvk.GroupVersion(), v1alpha1.GroupVersion)
	}
	if object.GetName() == "" && object.GetGenerateName() == "" {
		return errors.New("metadata.name or metadata.generateName must be set")
	}
	return nil
}

// place decides a LoadTest's namespace as kubectl does.
func (c *cluster) place(object *unstructured.Unstructured) error {
	switch named := object.GetNamespace(); {
	case named == "":
		object.SetNamespace(c.namespace)
	case c.explicit && named != c.namespace:
		return fmt.Errorf("LoadTest %s: metadata.namespace is %s, but --namespace is %s; leave out one of them", displayName(object), named, c.namespace)
	}
	return nil
}

func displayName(object *unstructured.Unstructured) string {
	if name := object.GetName(); name != "" {
		return name
	}
	return object.GetGenerateName() + "*"
}
