package loadtest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// slow lists what is selected by its status at once, and all else when it may.
type slow struct {
	toolscache.ListerWatcher
	may <-chan struct{}
}

func (s slow) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	if !strings.Contains(options.FieldSelector, "status.startTime") {
		select {
		case <-s.may:
		case <-ctx.Done():
		}
	}
	return toolscache.ToListerWithContext(s.ListerWatcher).ListWithContext(ctx, options)
}

func (s slow) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return toolscache.ToWatcherWithContext(s.ListerWatcher).WatchWithContext(ctx, options)
}

// A process that starts serves the runs that have begun while it reads the thousands that wait or
// have finished. None begins meanwhile, since the queue does not know all.
func TestRunsThatHaveBegunGoOnWhileAllElseIsRead(t *testing.T) {
	t.Parallel()
	running, finished, waiting := withResult(t, false), withResult(t, true), hello(t)
	options, reading, err := loadtest.CacheOptions(running.Namespace, finished.Namespace, waiting.Namespace)
	must.Succeed(t, err)
	newInformer, may := options.NewInformer, make(chan struct{})
	options.NewInformer = func(lw toolscache.ListerWatcher, o runtime.Object, every time.Duration, by toolscache.Indexers) toolscache.SharedIndexInformer {
		if _, ok := o.(*v1beta1.LoadTest); ok {
			lw = slow{lw, may}
		}
		return newInformer(lw, o, every, by)
	}
	c, direct := apiserver.Cached(t, options), apiserver.Client(t)
	cachedAs(t, c, running, &v1beta1.LoadTest{})
	for name, lt := range map[string]*v1beta1.LoadTest{"finished": finished, "waiting": waiting} {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(lt), &v1beta1.LoadTest{}); !apierrors.IsNotFound(err) {
			t.Errorf("the LoadTest that is %s: %v, want that it has not been read", name, err)
		}
	}
	r := newFixture(t, c)
	r.readPastCache(unhurried{direct})
	r.Reading = reading

	change(t, waiting, func(s *v1beta1.LoadTestSpec) { s.Parallelism = ptr.To[int32](2) }) // it comes into the cache by its event
	cachedAs(t, c, waiting, &v1beta1.LoadTest{})
	before := waiting.ResourceVersion
	if again := r.mustPass(waiting); again.RequeueAfter != 0 || waiting.ResourceVersion != before {
		t.Errorf("a pass wrote it: %t, and comes again after %s; want nothing before all is read", waiting.ResourceVersion != before, again.RequeueAfter)
	}
	if err := direct.Get(t.Context(), client.ObjectKeyFromObject(waiting), &batchv1.Job{}); !apierrors.IsNotFound(err) {
		t.Errorf("its Job: %v, want none", err)
	}
	if reading.Complete() {
		t.Fatal("complete before all was read")
	}
	close(may)
	await.True(t, "all is read", reading.Complete)
	cachedAs(t, c, finished, &v1beta1.LoadTest{})
	if r.mustPass(waiting); waiting.ResourceVersion == before {
		t.Error("it does not begin")
	}
}
