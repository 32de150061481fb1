package simulated

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	ended  error // a watch ended, so that what came after it is missing
}

// WatchWrites counts from now on until ctx ends. What is there is not sent again.
func WatchWrites(ctx context.Context, c client.WithWatch) (*Writes, error) {
	w := &Writes{bytes: map[string]int64{}, counts: map[string]int64{}}
	for _, list := range []client.ObjectList{&v1beta1.LoadTestList{}, &corev1.ConfigMapList{}} {
		if err := c.List(ctx, list, client.InNamespace(Namespace), client.Limit(1)); err != nil {
			return nil, fmt.Errorf("list %T: %w", list, err)
		}
		from := &client.ListOptions{Namespace: Namespace, Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}}
		changes, err := c.Watch(ctx, list, from)
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
			if !ok || e.Type == watch.Error {
				w.end(fmt.Errorf("a watch of writes ended: %+v", e.Object))
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

func (w *Writes) end(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = err
}

func (w *Writes) add(name string, size int) {
	prefix, _, _ := strings.Cut(name, "-")
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bytes[prefix] += int64(size)
	w.counts[prefix]++
}

// Of is what was written of the LoadTests whose names begin so and of their results, in
// bytes, and in how many writes. The error says that not all were seen.
func (w *Writes) Of(prefix string) (bytes, writes int64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.bytes[prefix], w.counts[prefix], w.ended
}
