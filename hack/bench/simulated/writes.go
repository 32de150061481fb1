package simulated

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// Writes adds up what the changes of LoadTests take in the store, each of which is a
// revision of the whole object, and the ConfigMaps of their results.
type Writes struct {
	mu     sync.Mutex
	bytes  map[string]int64 // by prefix of the name
	counts map[string]int64
}

// WatchWrites counts from now on until ctx ends.
func WatchWrites(ctx context.Context, c client.WithWatch) (*Writes, error) {
	w := &Writes{bytes: map[string]int64{}, counts: map[string]int64{}}
	for _, list := range []client.ObjectList{&v1beta1.LoadTestList{}, &corev1.ConfigMapList{}} {
		changes, err := c.Watch(ctx, list, client.InNamespace(Namespace))
		if err != nil {
			return nil, fmt.Errorf("watch %T: %w", list, err)
		}
		go w.follow(ctx, changes)
	}
	return w, nil
}

func (w *Writes) follow(ctx context.Context, changes watch.Interface) {
	defer changes.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-changes.ResultChan():
			if !ok {
				return
			}
			switch object := e.Object.(type) {
			case *v1beta1.LoadTest:
				if raw, err := json.Marshal(object); err == nil && e.Type == watch.Modified { // it came as JSON
					w.add(object.Name, len(raw))
				}
			case *corev1.ConfigMap: // is stored as protobuf
				if e.Type == watch.Added {
					w.add(object.Name, object.Size())
				}
			}
		}
	}
}

func (w *Writes) add(name string, size int) {
	prefix, _, _ := strings.Cut(name, "-")
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bytes[prefix] += int64(size)
	w.counts[prefix]++
}

// Of is what was written of the LoadTests whose names begin so and of their results, in
// bytes, and in how many writes.
func (w *Writes) Of(prefix string) (bytes, writes int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.bytes[prefix], w.counts[prefix]
}
