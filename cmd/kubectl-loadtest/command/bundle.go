package command

import (
	"context"
	"fmt"
	"io"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/document"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/local"
)

// bundle is what files hold, as kustomize builds them.
type bundle struct {
	tests []document.Manifest
	// data are the ConfigMaps and Secrets, which LoadTests may name.
	data []document.Manifest
	// others are of no use to a LoadTest while it runs.
	others []document.Manifest
}

// readBundle reads files, each of which holds a LoadTest at least.
func readBundle(paths []string, stdin io.Reader) (*bundle, error) {
	b := &bundle{}
	for _, path := range paths {
		documents, err := document.Read(path, stdin)
		if err != nil {
			return nil, err
		}
		before := len(b.tests)
		for _, d := range documents {
			if err := b.add(d); err != nil {
				return nil, err
			}
		}
		if len(b.tests) == before {
			return nil, fmt.Errorf("-f %s: holds no LoadTest%s", path, b.instead())
		}
	}
	return b, nil
}

func (b *bundle) add(d document.Document) error {
	switch kind := d.Object.GroupVersionKind(); {
	case local.Takes(d.Object):
		b.data = append(b.data, d.Object)
	case kind.Group == document.LoadTestKind.Group && kind.Kind == document.LoadTestKind.Kind:
		if err := document.CheckLoadTest(d.Object); err != nil {
			return fmt.Errorf("-f %s: document %d: %w", d.Path, d.Number, err)
		}
		b.tests = append(b.tests, d.Object)
	default:
		b.others = append(b.others, d.Object)
	}
	return nil
}

// instead names an object that is there where a LoadTest is missing.
func (b *bundle) instead() string {
	if len(b.others) == 0 {
		return ""
	}
	return fmt.Sprintf(", but a %s of %s", b.others[0].GetKind(), b.others[0].GetAPIVersion())
}

// leaveAside says which objects of the files are not created.
func (b *bundle) leaveAside(w io.Writer) {
	if len(b.others) == 0 {
		return
	}
	names := make([]string, len(b.others))
	for i, o := range b.others {
		names[i] = o.GetKind() + " " + document.DisplayName(o)
	}
	_, _ = fmt.Fprintf(w, "not applied: %s; kubectl apply -f creates them\n", strings.Join(names, ", "))
}

// applyData brings the ConfigMaps and Secrets into the cluster, as kubectl apply
// --server-side does.
func (c *cluster) applyData(ctx context.Context, b *bundle) error {
	for _, object := range b.data {
		object = object.DeepCopy()
		object.SetManagedFields(nil)
		object.SetResourceVersion("")
		what := fmt.Sprintf("%s %s/%s", object.GetKind(), object.GetNamespace(), object.GetName())
		err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(fieldManager))
		switch {
		case apierrors.IsConflict(err):
			return fmt.Errorf("apply %s: %w: another program manages it; leave it out of the file, or change it there", what, err)
		case err != nil:
			return fmt.Errorf("apply %s: %w", what, err)
		}
	}
	return nil
}
