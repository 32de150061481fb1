package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
)

// Objects are ConfigMaps and Secrets. The zero value has none.
type Objects struct {
	kept []keptObject
}

// keptObject is the data of a ConfigMap or Secret. One without a namespace is of every
// namespace, as kubectl apply -n would make it.
type keptObject struct {
	secret          bool
	namespace, name string
	data            map[string][]byte
}

// Takes says whether an object is one of those that Add takes.
func Takes(o *unstructured.Unstructured) bool {
	return o.GetAPIVersion() == "v1" && (o.GetKind() == "ConfigMap" || o.GetKind() == "Secret")
}

// Add adds a ConfigMap or a Secret. A later one of the same name takes the place of an
// earlier one.
func (s *Objects) Add(o *unstructured.Unstructured) error {
	kept := keptObject{secret: o.GetKind() == "Secret", namespace: o.GetNamespace(), name: o.GetName(), data: map[string][]byte{}}
	var err error
	if kept.secret {
		err = readSecret(o, kept.data)
	} else {
		err = readConfigMap(o, kept.data)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
	}
	s.kept = append(s.kept, kept)
	return nil
}

func readConfigMap(o *unstructured.Unstructured, data map[string][]byte) error {
	var read corev1.ConfigMap
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &read); err != nil {
		return err
	}
	for key, value := range read.BinaryData {
		data[key] = value
	}
	for key, value := range read.Data {
		data[key] = []byte(value)
	}
	return nil
}

func readSecret(o *unstructured.Unstructured, data map[string][]byte) error {
	var read corev1.Secret
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &read); err != nil {
		return errors.New("data must be base64, and stringData text") // the cause may quote what is secret
	}
	for key, value := range read.Data {
		data[key] = value
	}
	for key, value := range read.StringData {
		data[key] = []byte(value)
	}
	return nil
}

// ConfigMapKey returns the value of a key of a ConfigMap that a LoadTest of a namespace names.
func (s *Objects) ConfigMapKey(namespace string, key v1beta1.KeyReference) (value []byte, found bool) {
	return s.find(namespace, plan.File{Name: string(key.Name), Key: key.Key})
}

// find returns what a LoadTest of a namespace finds in a file.
func (s *Objects) find(namespace string, f plan.File) (value []byte, found bool) {
	if s == nil {
		return nil, false
	}
	for _, o := range s.kept {
		if o.is(namespace, f) {
			value, found = o.data[f.Key]
		}
	}
	return value, found
}

// missing is an error for the files that a LoadTest names and nothing has.
func (s *Objects) missing(lt *v1beta1.LoadTest) error {
	var errs []error
	for _, f := range plan.Files(&lt.Spec) {
		if _, found := s.find(lt.Namespace, f); !found {
			errs = append(errs, fmt.Errorf("LoadTest %s needs key %s of %s %s, which does not exist: put it into the file, or into a folder that --with names",
				lt.Name, f.Key, kind(f), f.Name))
		}
	}
	return errors.Join(errs...)
}

func kind(f plan.File) string {
	if f.Secret {
		return "Secret"
	}
	return "ConfigMap"
}

// File is a key of a ConfigMap or Secret that a LoadTest names.
type File struct{ plan.File }

// Kind is that of the object.
func (f File) Kind() string { return kind(f.File) }

// Files are those that a spec names.
func Files(spec *v1beta1.LoadTestSpec) []File {
	var list []File
	for _, f := range plan.Files(spec) {
		list = append(list, File{f})
	}
	return list
}

// write puts the files that a LoadTest names where its workers look for them, as a
// kubelet does: those and no others.
func (s *Objects) write(folder string, lt *v1beta1.LoadTest) error {
	const private, privateFolder fs.FileMode = 0o600, 0o700
	for _, f := range plan.Files(&lt.Spec) {
		path := filepath.Join(folder, plan.FileDir, f.Path())
		value, _ := s.find(lt.Namespace, f)
		if err := os.MkdirAll(filepath.Dir(path), privateFolder); err != nil {
			return fmt.Errorf("make folder for %s %s: %w", kind(f), f.Name, err)
		}
		if err := os.WriteFile(path, value, private); err != nil {
			return fmt.Errorf("write key %s of %s %s: %w", f.Key, kind(f), f.Name, err)
		}
	}
	return nil
}

// MissingKeys says which keys a LoadTest names that a ConfigMap or Secret lacks. Those
// that are not among the objects at all are not known here.
func (s *Objects) MissingKeys(lt *v1beta1.LoadTest) (sentences []string) {
	for _, f := range plan.Files(&lt.Spec) {
		if _, found := s.find(lt.Namespace, f); !found && s.has(lt.Namespace, f) {
			sentences = append(sentences, fmt.Sprintf("%s %s has no key %s, which the LoadTest names", kind(f), f.Name, f.Key))
		}
	}
	return sentences
}

// has says whether the object of a file is there, whatever its keys.
func (s *Objects) has(namespace string, f plan.File) bool {
	return slices.ContainsFunc(s.kept, func(o keptObject) bool { return o.is(namespace, f) })
}

// is says whether a LoadTest of a namespace means the object by a file.
func (o *keptObject) is(namespace string, f plan.File) bool {
	return o.secret == f.Secret && o.name == f.Name && (o.namespace == "" || namespace == "" || o.namespace == namespace)
}
