package firstread

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
	ctrl "sigs.k8s.io/controller-runtime"
)

// watching is one watch, with what is added to it.
type watching struct {
	*lister
	events watch.Interface
	to     chan watch.Event
	ctx    context.Context // until it is stopped, or events end
	cancel context.CancelFunc
	parts  sync.WaitGroup
}

// Stop ends it, and waits until nothing of it writes to the lister any more.
func (w *watching) Stop() {
	w.cancel()
	w.events.Stop()
	w.parts.Wait()
}

// start begins to hand on events, and adds all else if add is set.
func (w *watching) start(add bool, options metav1.ListOptions) {
	w.parts.Go(w.forward)
	if add {
		w.parts.Go(func() { w.addAll(options) })
	}
	go func() {
		w.parts.Wait()
		close(w.to)
	}()
}

// ResultChan has the events. It is closed after the last.
func (w *watching) ResultChan() <-chan watch.Event { return w.to }

// forward hands on what is watched.
func (w *watching) forward() {
	defer w.cancel()
	for event := range w.events.ResultChan() {
		if !w.hand(event) {
			return
		}
	}
}

// hand hands on an event, unless it is older than what was added.
func (w *watching) hand(event watch.Event) (ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	of, err := meta.Accessor(event.Object)
	if event.Type == watch.Error || err != nil {
		return w.send(event)
	}
	w.version = of.GetResourceVersion()
	if w.known == nil {
		return w.send(event)
	}
	if w.read && !isInOrder(w.version, w.added) {
		w.known = nil
	} else if event.Type != watch.Bookmark {
		if isInOrder(w.version, w.known[keyOf(event.Object)]) {
			return true
		}
		w.known[keyOf(event.Object)] = ""
	}
	return w.send(event)
}

// isInOrder says whether a version is known to be that of another or before it: those of an API server
// are numbers.
func isInOrder(version, another string) bool {
	order, err := resourceversion.CompareResourceVersion(version, another)
	return err == nil && order <= 0
}

func (w *watching) send(event watch.Event) (ok bool) {
	select {
	case w.to <- event:
		return true
	case <-w.ctx.Done():
		return false
	}
}

// addAll reads page after page, and adds what is not known. A watch that ends is followed by
// another, which goes on with the page at which this one was.
func (w *watching) addAll(options metav1.ListOptions) {
	log := ctrl.LoggerFrom(w.ctx)
	options = metav1.ListOptions{LabelSelector: options.LabelSelector, FieldSelector: options.FieldSelector}
	for w.ctx.Err() == nil {
		options.Continue = w.next
		page, next, err := w.page(w.ctx, options)
		switch {
		case w.ctx.Err() != nil:
			return
		case err != nil:
			log.Error(err, "cannot read a page of what is stored")
			pause(w.ctx)
			continue
		}
		if meta.EachListItem(page, w.add) != nil {
			return // it has ended
		}
		if w.next = next; next == "" {
			w.mu.Lock()
			w.setRead()
			w.mu.Unlock()
			return
		}
	}
}

// add hands on an object of a page as one that was created.
func (w *watching) add(o runtime.Object) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := keyOf(o)
	if _, known := w.known[key]; known {
		return nil
	}
	of, err := meta.Accessor(o)
	if err != nil {
		return err
	}
	w.known[key] = of.GetResourceVersion()
	w.adds(key)
	if !w.send(watch.Event{Type: watch.Added, Object: o}) {
		return context.Canceled
	}
	return nil
}

func pause(ctx context.Context) {
	timer := time.NewTimer(retryEvery)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
