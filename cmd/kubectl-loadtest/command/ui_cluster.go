package command

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/progress"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui/runs"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
)

// mostResults is how many steps' results are kept for the pages: each may have some hundred KB.
const mostResults = 100

// clusterBackend does what pages ask for, with the rights of the user.
type clusterBackend struct {
	*cluster
	mu   sync.Mutex
	kept *simplelru.LRU[resultKey, result]
}

var _ ui.Backend = (*clusterBackend)(nil)

// resultKey names the results of a step.
type resultKey struct {
	uid       types.UID
	configMap string
}

// result is what came of reading one.
type result struct {
	step *archive.Step
	err  error
}

func newClusterBackend(cluster *cluster) *clusterBackend {
	kept, _ := simplelru.NewLRU[resultKey, result](mostResults, nil) // the error is of a size below 1
	return &clusterBackend{cluster: cluster, kept: kept}
}

// in is the same cluster, in a namespace.
func (b *clusterBackend) in(namespace string) *cluster {
	return &cluster{WithWatch: b.WithWatch, namespace: namespace, explicit: true}
}

func (b *clusterBackend) Open(ctx context.Context, key runs.Key) (*v1beta1.LoadTest, error) {
	return b.in(key.Namespace).get(ctx, key.Name)
}

func (b *clusterBackend) Stop(ctx context.Context, key runs.Key) error {
	lt, err := b.Open(ctx, key)
	if err != nil || progress.Finished(lt) {
		return err
	}
	if err := b.set(ctx, lt, "terminate", true); err != nil {
		return fmt.Errorf("end LoadTest %s/%s: %w", lt.Namespace, lt.Name, err)
	}
	return nil
}

func (b *clusterBackend) Again(ctx context.Context, key runs.Key) (runs.Key, error) {
	lt, err := b.in(key.Namespace).again(ctx, key.Name, "")
	if err != nil {
		return runs.Key{}, err
	}
	return runs.Key{Namespace: lt.Namespace, Name: lt.Name}, nil
}

func (b *clusterBackend) Results(ctx context.Context, lt *v1beta1.LoadTest) (steps []*archive.Step, notes []string) {
	for _, ref := range lt.Status.ResultRefs {
		if ref.ConfigMap == "" {
			continue
		}
		step, err := b.result(ctx, lt, ref)
		switch {
		case errors.Is(err, errChanged):
			notes = append(notes, fmt.Sprintf("Step %s is left out: ConfigMap %s: %v", ref.Step, ref.ConfigMap, err))
		case err != nil:
			notes = append(notes, fmt.Sprintf("No plots over time of step %s: ConfigMap %s: %v", ref.Step, ref.ConfigMap, err))
		default:
			steps = append(steps, step)
		}
	}
	return steps, notes
}

// result reads the results of a step once. What cannot be read for a reason that stays is not
// tried again with each update of the run.
func (b *clusterBackend) result(ctx context.Context, lt *v1beta1.LoadTest, ref v1beta1.ResultRef) (*archive.Step, error) {
	key := resultKey{lt.UID, ref.ConfigMap}
	b.mu.Lock()
	found, ok := b.kept.Get(key)
	b.mu.Unlock()
	if ok {
		return found.step, found.err
	}
	step, err := unpack(lt, ref, b.resultsOf(ctx, lt))
	if err == nil || errors.Is(err, errChanged) || apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
		b.mu.Lock()
		b.kept.Add(key, result{step, err})
		b.mu.Unlock()
	}
	return step, err
}
