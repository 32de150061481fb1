package document

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// Manifest is an object as it was written.
type Manifest = *unstructured.Unstructured

// LoadTests reads the LoadTests of files in order; "-" is the standard
// input. They stay as they were written: the API server says which fields it
// does not know.
func LoadTests(paths []string, stdin io.Reader) ([]*unstructured.Unstructured, error) {
	return Objects(paths, stdin, CheckLoadTest)
}

// Objects reads the objects of files in order. Each has to pass the check, and each
// file to hold a LoadTest.
func Objects(paths []string, stdin io.Reader, check Check) ([]*unstructured.Unstructured, error) {
	var list []*unstructured.Unstructured
	for _, path := range paths {
		found, err := File(path, stdin, check)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(found, IsLoadTest) {
			return nil, fmt.Errorf("-f %s: holds no LoadTest", path)
		}
		list = append(list, found...)
	}
	return list, nil
}

// Check refuses an object.
type Check func(*unstructured.Unstructured) error

// File reads the objects of a file, each of which has to pass the check.
func File(path string, stdin io.Reader, check Check) ([]*unstructured.Unstructured, error) {
	documents, err := Read(path, stdin)
	if err != nil {
		return nil, err
	}
	return checked(documents, check)
}

// Checked reads the objects of a YAML stream, each of which has to pass the check. The path is for errors.
func Checked(path string, input io.Reader, check Check) ([]*unstructured.Unstructured, error) {
	documents, err := Parse(path, input)
	if err != nil {
		return nil, err
	}
	return checked(documents, check)
}

func checked(documents []Document, check Check) ([]*unstructured.Unstructured, error) {
	var list []*unstructured.Unstructured
	for _, d := range documents {
		if err := check(d.Object); err != nil {
			return nil, fmt.Errorf("-f %s: document %d: %w", d.Path, d.Number, err)
		}
		list = append(list, d.Object)
	}
	return list, nil
}

// LoadTestKind is the kind of a LoadTest, in the version that is served.
var LoadTestKind = v1beta1.GroupVersion.WithKind("LoadTest")

// IsLoadTest says whether an object is a LoadTest of the version that is served.
func IsLoadTest(object *unstructured.Unstructured) bool {
	return object.GroupVersionKind() == LoadTestKind
}

// CheckLoadTest refuses what is not a LoadTest with a name.
func CheckLoadTest(object *unstructured.Unstructured) error {
	if gvk := object.GroupVersionKind(); !IsLoadTest(object) {
		return fmt.Errorf("is a %s of %s, not a LoadTest of %s; apply other objects with kubectl apply -f", gvk.Kind, gvk.GroupVersion(), v1beta1.GroupVersion)
	}
	if object.GetName() == "" && object.GetGenerateName() == "" {
		return errors.New("metadata.name or metadata.generateName must be set")
	}
	return nil
}

// DisplayName is the name of an object, or what the API server will make one of, with a star.
func DisplayName(object *unstructured.Unstructured) string {
	if name := object.GetName(); name != "" {
		return name
	}
	return object.GetGenerateName() + "*"
}
