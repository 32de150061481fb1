package command

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	yamlstream "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

// readManifests reads the LoadTests of files in order; "-" is the standard
// input. They stay as they were written: the API server says which fields it
// does not know.
func readManifests(paths []string, stdin io.Reader) ([]*unstructured.Unstructured, error) {
	var list []*unstructured.Unstructured
	for _, path := range paths {
		found, err := readFile(path, stdin)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("-f %s: holds no LoadTest", path)
		}
		list = append(list, found...)
	}
	return list, nil
}

func readFile(path string, stdin io.Reader) ([]*unstructured.Unstructured, error) {
	if path == "-" {
		return parse(path, stdin)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("-f %s: %w", path, errors.Unwrap(err))
	}
	defer func() { _ = file.Close() }()
	return parse(path, file)
}

// parse reads the documents of a YAML stream; empty ones do not count.
func parse(path string, input io.Reader) ([]*unstructured.Unstructured, error) {
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
		if err != nil {
			return nil, fmt.Errorf("-f %s: document %d: %w", path, n, err)
		}
		if object != nil {
			list = append(list, object)
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
	if gvk, want := object.GroupVersionKind(), v1alpha1.GroupVersion.WithKind("LoadTest"); gvk != want {
		return nil, fmt.Errorf("is a %s of %s, not a LoadTest of %s; apply other objects with kubectl apply -f", gvk.Kind, gvk.GroupVersion(), want.GroupVersion())
	}
	if object.GetName() == "" && object.GetGenerateName() == "" {
		return nil, errors.New("metadata.name or metadata.generateName must be set")
	}
	return object, nil
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
