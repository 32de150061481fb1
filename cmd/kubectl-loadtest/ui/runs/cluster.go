package runs

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

const (
	// leastPause and mostPause are how long to wait after the API server did not answer, the
	// first time and after many.
	leastPause, mostPause = time.Second, 30 * time.Second
	// listed is how many objects are read at a time: each may have some hundred KB.
	listed = 50
)

// Reader reads and watches objects.
type Reader interface {
	List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error
	Watch(ctx context.Context, list client.ObjectList, opts ...client.ListOption) (watch.Interface, error)
}

// Cluster follows the LoadTests and schedules of a namespace.
type Cluster struct {
	Reader Reader
	// Namespace is the one that is followed; "": all of them.
	Namespace string
	// Explain adds a way out to an error. Optional.
	Explain func(error) error
}

// Follow keeps a collection up to date until ctx ends.
func (c *Cluster) Follow(ctx context.Context, into *Collection) {
	tests := &follower{
		Cluster: c, kind: "LoadTests", into: into, list: func() client.ObjectList { return &v1beta1.LoadTestList{} },
		put: func(o client.Object) { into.Put(o.(*v1beta1.LoadTest)) }, remove: into.Remove, keep: into.Keep,
	}
	schedules := &follower{
		Cluster: c, kind: "LoadTestSchedules", into: into, list: func() client.ObjectList { return &v1beta1.LoadTestScheduleList{} },
		put: func(o client.Object) { into.PutSchedule(o.(*v1beta1.LoadTestSchedule)) }, remove: into.RemoveSchedule, keep: into.KeepSchedules,
	}
	var both sync.WaitGroup
	both.Go(func() { tests.follow(ctx) })
	both.Go(func() { schedules.follow(ctx) })
	both.Wait()
}

// follower follows the objects of one kind.
type follower struct {
	*Cluster
	kind   string
	into   *Collection
	list   func() client.ObjectList
	put    func(client.Object)
	remove func(Key)
	keep   func(map[Key]bool)
	// version is what was seen last; "": list them all.
	version string
}

// follow lists the objects and watches them. A watch that breaks is made anew.
func (f *follower) follow(ctx context.Context) {
	pause := leastPause
	for ctx.Err() == nil {
		answered, err := f.once(ctx)
		if ctx.Err() != nil {
			return
		}
		if answered {
			pause = leastPause
		}
		f.into.Trouble(f.kind, f.sentence(err))
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		pause = min(2*pause, mostPause)
	}
}

// once lists the objects if that is needed, and watches them until the watch ends. answered
// says that the server was in reach.
func (f *follower) once(ctx context.Context) (answered bool, err error) {
	if f.version == "" {
		if err := f.read(ctx); err != nil {
			return false, err
		}
	}
	w, err := f.Reader.Watch(ctx, f.list(), client.InNamespace(f.Namespace),
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: f.version, AllowWatchBookmarks: true}})
	if err != nil {
		if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			f.version = ""
			return true, nil
		}
		f.version = "" // what cannot be watched is listed again
		return false, fmt.Errorf("watch %s: %w", f.kind, err)
	}
	defer context.AfterFunc(ctx, w.Stop)()
	defer w.Stop()
	f.into.Trouble(f.kind, "")
	for event := range w.ResultChan() {
		if err := f.take(event); err != nil {
			f.version = ""
			return true, err
		}
	}
	return true, nil
}

// read lists all objects, a part at a time.
func (f *follower) read(ctx context.Context) error {
	seen := map[Key]bool{}
	for next := ""; ; {
		list := f.list()
		if err := f.Reader.List(ctx, list, client.InNamespace(f.Namespace), client.Limit(listed), client.Continue(next)); err != nil {
			return fmt.Errorf("list %s: %w", f.kind, err)
		}
		err := meta.EachListItem(list, func(o runtime.Object) error {
			object, ok := o.(client.Object)
			if !ok {
				return errors.New("the API server answered with an object without a name")
			}
			seen[Key{object.GetNamespace(), object.GetName()}] = true
			f.put(object)
			return nil
		})
		if err != nil {
			return err
		}
		if next = list.GetContinue(); next == "" {
			f.keep(seen)
			f.version = list.GetResourceVersion()
			return nil
		}
	}
}

func (f *follower) take(event watch.Event) error {
	if event.Type == watch.Error {
		err := apierrors.FromObject(event.Object)
		if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			return errStale
		}
		return err
	}
	object, ok := event.Object.(client.Object)
	if !ok {
		return nil
	}
	f.version = object.GetResourceVersion()
	switch event.Type {
	case watch.Added, watch.Modified:
		f.put(object)
	case watch.Deleted:
		f.remove(Key{object.GetNamespace(), object.GetName()})
	}
	return nil
}

// errStale is no trouble: the list is read again.
var errStale = errors.New("the API server no longer knows what was seen last")

// sentence says what is not up to date; "": nothing is. Schedules are left out where they may
// not be listed, or their CRD is not there: a page is of use without them.
func (f *follower) sentence(err error) string {
	optional := f.kind != "LoadTests" && (apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || meta.IsNoMatchError(err))
	if err == nil || errors.Is(err, errStale) || optional {
		return ""
	}
	if f.Explain != nil {
		err = f.Explain(err)
	}
	return "Not up to date, trying again: " + err.Error()
}
