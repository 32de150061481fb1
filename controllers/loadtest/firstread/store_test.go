package firstread_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// store is what an API server does with objects of one kind: it has versions, pages and watches. Each
// list of a page is of the instant of its first one. Its mutex is never held while it waits.
type store struct {
	mu        sync.Mutex
	version   int
	objects   map[string]*corev1.ConfigMap
	log       []watch.Event // by version, from 1
	compacted int           // versions up to this one are gone
	snapshots map[int][]*corev1.ConfigMap
	changed   chan struct{} // closed at the next change
	watches   int
	pages     []int // their lengths

	// beforePage is called before each page that is not of what is first; nil: nothing is.
	beforePage func(ctx context.Context) error
	// beforeEvents is called before events are sent; nil: nothing is.
	beforeEvents func()
	// selects says whether what is first can be selected.
	selects bool
}

func newStore() *store {
	return &store{objects: map[string]*corev1.ConfigMap{}, snapshots: map[int][]*corev1.ConfigMap{}, changed: make(chan struct{}), selects: true}
}

// first selects the objects whose data says so.
const first = "first=yes"

func (s *store) put(name string, isFirst bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind := watch.Modified
	if s.objects[name] == nil {
		kind = watch.Added
	}
	s.version++
	o := &corev1.ConfigMap{Data: map[string]string{"first": strconv.FormatBool(isFirst), "much": "…"}}
	o.Namespace, o.Name, o.ResourceVersion = "a", name, strconv.Itoa(s.version)
	s.objects[name] = o
	s.notifyLocked(watch.Event{Type: kind, Object: o})
}

func (s *store) remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects[name] == nil {
		return
	}
	s.version++
	o := s.objects[name].DeepCopy()
	o.ResourceVersion = strconv.Itoa(s.version)
	delete(s.objects, name)
	s.notifyLocked(watch.Event{Type: watch.Deleted, Object: o})
}

func (s *store) notifyLocked(event watch.Event) {
	s.log = append(s.log, event)
	close(s.changed)
	s.changed = make(chan struct{})
}

// compact forgets what was before the current version: lists that go on, and watches that are behind.
func (s *store) compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.compacted = s.version
	clear(s.snapshots)
}

// stored are the versions of what is stored, by key.
func (s *store) stored() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]string{}
	for name, o := range s.objects {
		all["a/"+name] = o.ResourceVersion
	}
	return all
}

func (s *store) List(metav1.ListOptions) (runtime.Object, error)   { panic("not called") }
func (s *store) Watch(metav1.ListOptions) (watch.Interface, error) { panic("not called") }
func (s *store) sortedLocked() []*corev1.ConfigMap {
	return slices.SortedFunc(maps.Values(s.objects), func(a, b *corev1.ConfigMap) int { return cmp.Compare(a.Name, b.Name) })
}

func (s *store) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	if options.FieldSelector == "" && s.beforePage != nil {
		if err := s.beforePage(ctx); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	version, after := s.version, ""
	if options.Continue != "" {
		at, name, _ := strings.Cut(options.Continue, ",")
		version, _ = strconv.Atoi(at)
		after = name
	}
	all, kept := s.snapshots[version]
	if !kept {
		if options.Continue != "" && version != s.version {
			err := apierrors.NewResourceExpired("the continue token is too old")
			err.ErrStatus.Continue = fmt.Sprintf("%d,%s", s.version, after)
			return nil, err
		}
		all = s.sortedLocked()
		s.snapshots[version] = all
	}
	if options.FieldSelector == first && !s.selects {
		return nil, apierrors.NewBadRequest("field label not supported: first")
	}
	list := &corev1.ConfigMapList{}
	list.ResourceVersion = strconv.Itoa(version)
	for _, o := range all {
		if o.Name <= after || options.FieldSelector == first && o.Data["first"] != "true" {
			continue
		}
		if options.Limit > 0 && len(list.Items) == int(options.Limit) {
			list.Continue = fmt.Sprintf("%d,%s", version, list.Items[len(list.Items)-1].Name)
			break
		}
		list.Items = append(list.Items, *o.DeepCopy())
	}
	s.pages = append(s.pages, len(list.Items))
	return list, nil
}

func (s *store) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	from, err := strconv.Atoi(options.ResourceVersion)
	if err != nil {
		return nil, apierrors.NewBadRequest("no version")
	}
	s.mu.Lock()
	s.watches++
	s.mu.Unlock()
	w := watch.NewRaceFreeFake()
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		for next := from; ; {
			s.mu.Lock()
			events, changed, tooOld := s.log[min(next, len(s.log)):], s.changed, next < s.compacted
			s.mu.Unlock()
			if tooOld {
				w.Error(&metav1.Status{Status: metav1.StatusFailure, Code: http.StatusGone, Reason: metav1.StatusReasonExpired})
				return
			}
			if s.beforeEvents != nil && len(events) > 0 {
				s.beforeEvents()
			}
			for _, e := range events {
				w.Action(e.Type, e.Object.DeepCopyObject())
			}
			next += len(events)
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}()
	return stopping{w, cancel}, nil
}

// stopping is a watch that ends its source when it is stopped.
type stopping struct {
	*watch.RaceFreeFakeWatcher
	cancel context.CancelFunc
}

func (s stopping) Stop() {
	s.cancel()
	s.RaceFreeFakeWatcher.Stop()
}
