package resultkeeper

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/desired"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/sink"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
)

// errUnread is that the LoadTest, or the results of a step, could not be read.
const errUnread = sink.Problem("the results could not be read from the API server")

// results writes a List of the LoadTest and of the results of its steps, as kubectl
// loadtest report reads it, compressed. It has one ConfigMap in memory at a time.
func (k *Keeper) results(lt *v1beta1.LoadTest) sink.Write {
	return func(ctx context.Context, to io.Writer) error {
		z := gzip.NewWriter(to)
		w := json.NewEncoder(z)
		if _, err := io.WriteString(z, `{"apiVersion":"v1","kind":"List","items":[`+"\n"); err != nil {
			return err
		}
		if err := w.Encode(keepable(lt)); err != nil {
			return err
		}
		for _, ref := range lt.Status.ResultRefs {
			step, err := k.resultsOf(ctx, lt, ref)
			if err != nil {
				return err
			}
			if step == nil {
				continue
			}
			if _, err := io.WriteString(z, ","); err != nil {
				return err
			}
			if err := w.Encode(step); err != nil {
				return err
			}
		}
		if _, err := io.WriteString(z, "]}\n"); err != nil {
			return err
		}
		return z.Close()
	}
}

// resultsOf are the results of a step; nil: they were not stored, are gone, or are not
// what was stored.
func (k *Keeper) resultsOf(ctx context.Context, lt *v1beta1.LoadTest, ref v1beta1.ResultRef) (*corev1.ConfigMap, error) {
	if ref.ConfigMap == "" {
		return nil, nil
	}
	var found corev1.ConfigMap
	err := k.Reader.Get(ctx, client.ObjectKey{Namespace: lt.Namespace, Name: ref.ConfigMap}, &found)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errUnread, err)
	}
	packed := found.BinaryData[archive.Key]
	if ref.SHA256 != "" && archive.Sum(packed) != ref.SHA256 {
		return nil, nil
	}
	return desired.Results(lt, ref.ConfigMap, packed), nil
}

// keepable is a LoadTest without what says nothing of the run, and differs from one
// attempt to the next.
func keepable(lt *v1beta1.LoadTest) *v1beta1.LoadTest {
	k := lt.DeepCopy()
	k.SetGroupVersionKind(v1beta1.GroupVersion.WithKind("LoadTest"))
	k.ManagedFields, k.ResourceVersion = nil, ""
	delete(k.Annotations, corev1.LastAppliedConfigAnnotation)
	meta.RemoveStatusCondition(&k.Status.Conditions, v1beta1.ConditionArchived)
	meta.RemoveStatusCondition(&k.Status.Conditions, v1beta1.ConditionAnnounced)
	return k
}
