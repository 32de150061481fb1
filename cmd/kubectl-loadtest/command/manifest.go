package command

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
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

// readFile reads the objects of a file, each of which has to pass the check.
func readFile(path string, stdin io.Reader, check check) ([]*unstructured.Unstructured, error) {
	documents, err := readDocuments(path, stdin)
	if err != nil {
		return nil, err
	}
	return checked(documents, check)
}

// parse reads the objects of a YAML stream.
func parse(path string, input io.Reader, check check) ([]*unstructured.Unstructured, error) {
	documents, err := parseDocuments(path, input)
	if err != nil {
		return nil, err
	}
	return checked(documents, check)
}

func checked(documents []document, check check) ([]*unstructured.Unstructured, error) {
	var list []*unstructured.Unstructured
	for _, d := range documents {
		if err := check(d.object); err != nil {
			return nil, fmt.Errorf("-f %s: document %d: %w", d.path, d.number, err)
		}
		list = append(list, d.object)
	}
	return list, nil
}

var loadTestKind = v1beta1.GroupVersion.WithKind("LoadTest")

func isLoadTest(object *unstructured.Unstructured) bool {
	return object.GroupVersionKind() == loadTestKind
}

// checkLoadTest refuses what is not a LoadTest with a name.
func checkLoadTest(object *unstructured.Unstructured) error {
	if gvk := object.GroupVersionKind(); !isLoadTest(object) {
		return fmt.Errorf("is a %s of %s, not a LoadTest of %s; apply other objects with kubectl apply -f", gvk.Kind, gvk.GroupVersion(), v1beta1.GroupVersion)
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
