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

// Objects are ConfigMaps and Secrets, and folders in the place of volumes. The zero value has none.
type Objects struct {
	kept []keptObject
	// claims are the folders that stand for PersistentVolumeClaims, by name.
	claims map[string]string
}

// keptObject is the data of a ConfigMap or Secret. One without a namespace is of every
// namespace, as kubectl apply -n would make it.
type keptObject struct {
	kind            plan.FileKind
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
	kept := keptObject{kind: plan.FileKind(o.GetKind()), namespace: o.GetNamespace(), name: o.GetName(), data: map[string][]byte{}}
	var err error
	if kept.kind == plan.InSecret {
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
	return s.find(namespace, plan.File{Kind: plan.InConfigMap, Name: string(key.Name), Key: key.Key})
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
		if f.Kind == plan.InClaim {
			errs = append(errs, s.missingClaim(lt, f))
		} else if _, found := s.find(lt.Namespace, f); !found {
			errs = append(errs, fmt.Errorf("LoadTest %s needs %v, which does not exist: put it into the file, or into a folder that --with names", lt.Name, f))
		}
	}
	return errors.Join(errs...)
}

// missingClaim is an error for a file of a volume for which no folder stands, or that is not there.
func (s *Objects) missingClaim(lt *v1beta1.LoadTest, f plan.File) error {
	folder := s.folder(f)
	if folder == "" {
		return fmt.Errorf("LoadTest %s needs %v, and there are no volumes on this machine: name a folder in its place with --claim %s=FOLDER", lt.Name, f, f.Name)
	}
	if info, err := os.Stat(filepath.Join(folder, filepath.FromSlash(f.Key))); err != nil || info.IsDir() {
		return fmt.Errorf("LoadTest %s needs %v: folder %s has no such file", lt.Name, f, folder)
	}
	return nil
}

// SetClaims has folders stand for PersistentVolumeClaims, by name.
func (s *Objects) SetClaims(folders map[string]string) { s.claims = folders }

// folder stands for the claim of a file; empty: none does.
func (s *Objects) folder(f plan.File) string {
	if s == nil {
		return ""
	}
	return s.claims[f.Name]
}

// File is one that a LoadTest names.
type File = plan.File

// Files are those that a spec names.
func Files(spec *v1beta1.LoadTestSpec) []File { return plan.Files(spec) }

// write puts the files that a LoadTest names where its workers look for them, as a
// kubelet does: those and no others.
func (s *Objects) write(folder string, lt *v1beta1.LoadTest) error {
	const private, privateFolder fs.FileMode = 0o600, 0o700
	for _, f := range plan.Files(&lt.Spec) {
		path := filepath.Join(folder, f.Path())
		if f.Kind == plan.InClaim {
			path = filepath.Join(folder, f.Folder())
		}
		if err := os.MkdirAll(filepath.Dir(path), privateFolder); err != nil {
			return fmt.Errorf("make folder for %v: %w", f, err)
		}
		if f.Kind == plan.InClaim {
			if err := link(s.folder(f), path); err != nil {
				return fmt.Errorf("read %v: %w", f, err)
			}
			continue
		}
		value, _ := s.find(lt.Namespace, f)
		if err := os.WriteFile(path, value, private); err != nil {
			return fmt.Errorf("write %v: %w", f, err)
		}
	}
	return nil
}

// link makes a symbolic link to a folder at a path, unless one is there.
func link(folder, path string) error {
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	if err := os.Symlink(absolute, path); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// MissingKeys says which keys a LoadTest names that a ConfigMap or Secret lacks. Those
// that are not among the objects at all are not known here.
func (s *Objects) MissingKeys(lt *v1beta1.LoadTest) (sentences []string) {
	for _, f := range plan.Files(&lt.Spec) {
		if _, found := s.find(lt.Namespace, f); !found && s.has(lt.Namespace, f) {
			sentences = append(sentences, fmt.Sprintf("%s %s has no key %s, which the LoadTest names", f.Kind, f.Name, f.Key))
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
	return o.kind == f.Kind && o.name == f.Name && (o.namespace == "" || namespace == "" || o.namespace == namespace)
}
