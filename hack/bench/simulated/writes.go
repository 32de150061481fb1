package simulated

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
)

// Writes adds up what the changes of LoadTests take in the store: each change is a
// revision of the whole object.
type Writes struct {
	mu     sync.Mutex
	bytes  map[string]int64 // by prefix of the name
	counts map[string]int64
}

// WatchWrites counts from now on until ctx ends.
func WatchWrites(ctx context.Context, c client.WithWatch) (*Writes, error) {
	changes, err := c.Watch(ctx, &v1alpha1.LoadTestList{}, client.InNamespace(Namespace))
	if err != nil {
		return nil, fmt.Errorf("watch LoadTests: %w", err)
	}
	w := &Writes{bytes: map[string]int64{}, counts: map[string]int64{}}
	go func() {
		defer changes.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case e, ok := <-changes.ResultChan():
				if !ok {
					return
				}
				if lt, isTest := e.Object.(*v1alpha1.LoadTest); isTest && e.Type == watch.Modified {
					w.add(lt)
				}
			}
		}
	}()
	return w, nil
}

func (w *Writes) add(lt *v1alpha1.LoadTest) {
	raw, err := json.Marshal(lt)
	if err != nil {
		return // not reached: it came as JSON
	}
	prefix, _, _ := strings.Cut(lt.Name, "-")
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bytes[prefix] += int64(len(raw))
	w.counts[prefix]++
}

// Of is what was written of the LoadTests whose names begin so, in bytes, and in how many
// writes.
func (w *Writes) Of(prefix string) (bytes, writes int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.bytes[prefix], w.counts[prefix]
}
