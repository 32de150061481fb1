package history

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// metadataPage is how many LoadTests are listed at once by their metadata, which may have 1.5 MB each: of
// annotations, labels, owners and finalizers.
const metadataPage = 10

// Last is the LoadTest that passed last of those that a selector selects, whole; nil: none has.
func (r Reader) Last(ctx context.Context, namespace string, selector labels.Selector) (*v1beta1.LoadTest, error) {
	found, err := r.selected(ctx, namespace, selector)
	if err != nil {
		return nil, err
	}
	for _, run := range slices.Backward(found) {
		lt, err := r.whole(ctx, namespace, run)
		if lt != nil || err != nil {
			return lt, err
		}
	}
	return nil, nil
}

// selected are the LoadTests that passed and that a selector selects, the oldest first. The cache has
// no labels of what has finished: the API server selects, and sends the metadata.
func (r Reader) selected(ctx context.Context, namespace string, selector labels.Selector) ([]passed, error) {
	var found []passed
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(v1beta1.GroupVersion.WithKind("LoadTestList"))
	for {
		err := r.Uncached.List(ctx, list, client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: selector},
			client.MatchingFields{"status.verdict": string(v1beta1.VerdictPassed)}, client.Limit(metadataPage), client.Continue(list.Continue))
		if err != nil {
			return nil, fmt.Errorf("list LoadTests with labels %s: %w", selector, err)
		}
		for i := range list.Items {
			run, err := r.completion(ctx, &list.Items[i])
			if err != nil {
				return nil, err
			}
			if run != nil {
				found = append(found, *run)
			}
		}
		if list.Continue == "" {
			sortByCompletion(found)
			return found, nil
		}
	}
}

// completion is when a LoadTest finished that the API server has as passed; nil: it is gone, or going.
// The cache may not know yet that it has finished.
func (r Reader) completion(ctx context.Context, listed *metav1.PartialObjectMetadata) (*passed, error) {
	key, lt := client.ObjectKeyFromObject(listed), &v1beta1.LoadTest{}
	err := r.Cached.Get(ctx, key, lt)
	if apierrors.IsNotFound(err) || err == nil && (lt.UID != listed.UID || lt.Status.CompletionTime == nil) {
		lt = &v1beta1.LoadTest{}
		err = r.Uncached.Get(ctx, key, lt)
	}
	switch {
	case apierrors.IsNotFound(err), err == nil && (lt.UID != listed.UID || lt.Status.CompletionTime == nil || !listed.DeletionTimestamp.IsZero()):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get LoadTest %s: %w", key.Name, err)
	}
	return &passed{lt.Name, lt.UID, *lt.Status.CompletionTime}, nil
}

// whole is a LoadTest with its results; nil: it was deleted a moment ago.
func (r Reader) whole(ctx context.Context, namespace string, run passed) (*v1beta1.LoadTest, error) {
	lt := &v1beta1.LoadTest{}
	err := r.Uncached.Get(ctx, types.NamespacedName{Namespace: namespace, Name: run.name}, lt)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get LoadTest %s: %w", run.name, err)
	case lt.UID != run.uid:
		return nil, nil
	}
	return lt, nil
}
