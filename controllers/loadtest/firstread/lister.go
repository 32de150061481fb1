package firstread

import (
	"context"
	"errors"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
)

const (
	// pageSize is how many objects are read at once: up to 15 MB, of which a decoder needs a multiple.
	pageSize = 10
	// retryEvery is the pause after a page that could not be read.
	retryEvery = time.Second
)

// lister lists what is first, and adds all else to what it watches. It is used by one reflector,
// which lists, then watches again and again, and lists once more when the API server no longer
// has the version from which it is to watch.
//
// What is added was read after the watch began. An object that an event was about is not added, and an
// event about a version that is not newer than what was added is left out: what the reflector gets
// of an object only becomes newer.
type lister struct {
	from   toolscache.ListerWatcher
	what   What
	finish func()

	// version is from where to watch. The reflector would do so from that of what it got last, and
	// what is added may be years old.
	version string
	// read is set once the last page was read: from then on, a list is of all.
	read bool

	// mu keeps the order of what the reflector gets: it is held until it was taken.
	mu sync.Mutex
	// known are the versions of what was added, by key, and empty texts for what the reflector got
	// otherwise; nil: the watch is past all that was added.
	known map[string]string
	// added is the version at which the last page was listed.
	added string
	// next is the token of the next page.
	next string

	// of is about the last of what was added.
	of struct {
		sync.Mutex
		last                    string
		sent, inCache, reported bool
	}
}

var (
	_ toolscache.ListerWatcherWithContext = (*lister)(nil)
	_ toolscache.ListerWatcher            = (*lister)(nil)
)

// IsWatchListSemanticsUnSupported has the reflector list before it watches.
func (*lister) IsWatchListSemanticsUnSupported() bool { return true }

// List lists.
func (l *lister) List(options metav1.ListOptions) (runtime.Object, error) {
	return l.ListWithContext(context.Background(), options)
}

// Watch watches.
func (l *lister) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return l.WatchWithContext(context.Background(), options)
}

// ListWithContext lists what is first as long as not all has been read once, and all from then
// on. The list is as new as can be, and in one piece for the reflector.
func (l *lister) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	list, err := l.list(ctx, options)
	if err != nil {
		return nil, err
	}
	of, err := meta.ListAccessor(list)
	if err != nil {
		return nil, err
	}
	l.version = of.GetResourceVersion()
	return list, nil
}

func (l *lister) list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	options.ResourceVersion, options.ResourceVersionMatch, options.Limit = "", "", 0
	if l.read {
		l.known = nil
		return l.listAll(ctx, options)
	}
	l.known, l.next = map[string]string{}, ""
	first := options
	first.FieldSelector = both(options.FieldSelector, l.what.First)
	list, err := toolscache.ToListerWithContext(l.from).ListWithContext(ctx, first)
	if apierrors.IsBadRequest(err) {
		// The CRD is older than this operator, and its objects cannot be selected so.
		ctrl.LoggerFrom(ctx).Info("All objects are read before any is used: apply the CRDs of this version", "cause", err.Error())
		l.known = nil
		l.setRead()
		return l.listAll(ctx, options)
	}
	if err != nil {
		return nil, err
	}
	return list, meta.EachListItem(list, func(o runtime.Object) error {
		l.known[keyOf(o)] = ""
		return l.strip(o)
	})
}

// listAll lists all in pages.
func (l *lister) listAll(ctx context.Context, options metav1.ListOptions) (all runtime.Object, err error) {
	var items []runtime.Object
	for {
		page, next, err := l.page(ctx, options)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = page // of its version: the watch begins there
		}
		if err := meta.EachListItem(page, func(o runtime.Object) error {
			items = append(items, o)
			return nil
		}); err != nil {
			return nil, err
		}
		if options.Continue = next; next == "" {
			return all, meta.SetList(all, items)
		}
	}
}

// page lists a page, and returns the token of the next; empty: there is none. Where the API server
// no longer has what it listed first, the next pages are of what it has now.
func (l *lister) page(ctx context.Context, options metav1.ListOptions) (page runtime.Object, next string, err error) {
	options.Limit = pageSize
	lists := toolscache.ToListerWithContext(l.from)
	page, err = lists.ListWithContext(ctx, options)
	if status := apierrors.APIStatus(nil); errors.As(err, &status) && apierrors.IsResourceExpired(err) && status.Status().Continue != "" {
		options.Continue = status.Status().Continue
		page, err = lists.ListWithContext(ctx, options)
	}
	if err != nil {
		return nil, "", err
	}
	of, err := meta.ListAccessor(page)
	if err != nil {
		return nil, "", err
	}
	next, l.added = of.GetContinue(), of.GetResourceVersion()
	of.SetContinue("")
	of.SetRemainingItemCount(nil)
	return page, next, meta.EachListItem(page, l.strip)
}

func (l *lister) strip(o runtime.Object) error {
	_, err := l.what.Strip(o)
	return err
}

// WatchWithContext watches all, and reads all that was not listed meanwhile.
func (l *lister) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	options.ResourceVersion = l.version
	events, err := toolscache.ToWatcherWithContext(l.from).WatchWithContext(ctx, options)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	w := &watching{lister: l, events: events, to: make(chan watch.Event), ctx: ctx, cancel: cancel}
	w.start(!l.read, options)
	return w, nil
}

// setRead notes that the last page was read.
func (l *lister) setRead() {
	l.read = true
	l.of.Lock()
	defer l.of.Unlock()
	l.of.sent = true
	l.reportLocked()
}

// adds notes what is added next.
func (l *lister) adds(key string) {
	l.of.Lock()
	defer l.of.Unlock()
	l.of.last, l.of.inCache = key, false
}

// processed is called for each change of the cache, in their order.
func (l *lister) processed(o any) {
	key, err := toolscache.DeletionHandlingMetaNamespaceKeyFunc(o)
	l.of.Lock()
	defer l.of.Unlock()
	if err == nil && key == l.of.last {
		l.of.inCache = true
		l.reportLocked()
	}
}

// reportLocked reports once that all is in the cache.
func (l *lister) reportLocked() {
	if l.of.sent && (l.of.last == "" || l.of.inCache) && !l.of.reported {
		l.of.reported = true
		l.finish()
	}
}

func keyOf(o any) string {
	key, _ := toolscache.MetaNamespaceKeyFunc(o) // objects of the API have names
	return key
}

func both(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "," + b
}
