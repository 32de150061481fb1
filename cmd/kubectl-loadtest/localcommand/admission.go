package localcommand

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/document"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/local"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/form"
)

// Namespace is that of a LoadTest which names none.
const Namespace = "local"

// admit does what an API server would do with the manifests, and directs their targets
// to addresses of Services.
func (r *Runner) admit(ctx context.Context, manifests []document.Manifest, o *Options, services local.Services) ([]*v1beta1.LoadTest, error) {
	var tests []*v1beta1.LoadTest
	for _, m := range manifests {
		lt, err := r.Admit(ctx, created(m))
		if err != nil {
			return nil, fmt.Errorf("LoadTest %s: %w", document.DisplayName(m), err)
		}
		if err := services.Direct(lt); err != nil {
			return nil, err
		}
		if err := errors.Join(local.Check(lt, o.Objects), local.CheckExposure(lt), form.CheckLocal(lt, local.SendsSeveral(lt), o.Output)); err != nil {
			return nil, err
		}
		tests = append(tests, lt)
	}
	return tests, nil
}

// created is a manifest with the metadata that an API server gives it.
func created(m document.Manifest) document.Manifest {
	object := m.DeepCopy()
	if object.GetNamespace() == "" {
		object.SetNamespace(Namespace)
	}
	if object.GetName() == "" {
		object.SetName(object.GetGenerateName() + utilrand.String(5))
	}
	object.SetUID(uuid.NewUUID())
	object.SetGeneration(1)
	object.SetCreationTimestamp(metav1.Now())
	return object
}
