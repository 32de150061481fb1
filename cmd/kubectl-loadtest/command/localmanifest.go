package command

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/admission"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/local"
)

// manifest is a LoadTest as it was written.
type manifest = *unstructured.Unstructured

// localNamespace is that of a LoadTest which names none.
const localNamespace = "local"

// readLocal reads the LoadTests of files, and the ConfigMaps and Secrets of the files
// and of folders.
func (c *config) readLocal(paths, folders []string) (tests []manifest, objects *local.Objects, err error) {
	found, err := readBundle(paths, c.streams.In)
	if err != nil {
		return nil, nil, err
	}
	found.leaveAside(c.streams.Err)
	objects = &local.Objects{}
	for _, folder := range folders {
		others, err := readFolder(folder, c.streams.In)
		if err != nil {
			return nil, nil, err
		}
		// What stands beside the LoadTest comes last, and wins.
		found.data = append(others, found.data...)
	}
	for _, object := range found.data {
		if err := objects.Add(object); err != nil {
			return nil, nil, err
		}
	}
	return found.tests, objects, nil
}

// readFolder reads the ConfigMaps and Secrets of the manifests in a folder.
func readFolder(folder string, stdin io.Reader) (found []*unstructured.Unstructured, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)) {
			return err
		}
		others, err := readFile(path, stdin, func(*unstructured.Unstructured) error { return nil })
		found = append(found, others...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("--with %s: %w", folder, err)
	}
	return slices.DeleteFunc(found, func(o *unstructured.Unstructured) bool { return !local.Takes(o) }), nil
}

// admit does what an API server would do with the manifests, and directs their targets
// to addresses of Services.
func admit(ctx context.Context, manifests []manifest, objects *local.Objects, services local.Services) ([]*v1beta1.LoadTest, error) {
	rules, err := admission.New()
	if err != nil {
		return nil, err
	}
	var tests []*v1beta1.LoadTest
	for _, m := range manifests {
		lt, err := rules.Admit(ctx, created(m))
		if err != nil {
			return nil, fmt.Errorf("LoadTest %s: %w", displayName(m), err)
		}
		if err := services.Direct(lt); err != nil {
			return nil, err
		}
		if err := local.Check(lt, objects); err != nil {
			return nil, err
		}
		tests = append(tests, lt)
	}
	return tests, nil
}

// created is a manifest with the metadata that an API server gives it.
func created(m manifest) manifest {
	object := m.DeepCopy()
	if object.GetNamespace() == "" {
		object.SetNamespace(localNamespace)
	}
	if object.GetName() == "" {
		object.SetName(object.GetGenerateName() + utilrand.String(5))
	}
	object.SetUID(uuid.NewUUID())
	object.SetGeneration(1)
	object.SetCreationTimestamp(metav1.Now())
	return object
}
