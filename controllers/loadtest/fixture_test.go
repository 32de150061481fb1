package loadtest_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/desired"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetaccess"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// workers stands in for the coordinator: it keeps what it was directed, and
// its workers are ready at once and send ten requests each in every step.
type workers struct {
	mu        sync.Mutex
	directed  []exchange.Directive
	forgotten int
	// absent keeps all workers from connecting.
	absent bool
	// silent keeps them from reporting.
	silent bool
	// pods are the UIDs of a run's pods, by number.
	pods func(coordinator.RunID) map[int]string
	// requests is how many requests the spec has; 0: one.
	requests int
}

var _ loadtest.Workers = (*workers)(nil)

func (w *workers) Direct(_ coordinator.RunID, d exchange.Directive) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.directed = append(w.directed, d)
}

func (w *workers) Forget(coordinator.RunID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forgotten++
}

func (w *workers) last() exchange.Directive {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.directed) == 0 {
		return exchange.Directive{}
	}
	return w.directed[len(w.directed)-1]
}

func (w *workers) Observe(run coordinator.RunID) exchange.Observation {
	d := w.last()
	o := exchange.Observation{Since: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)}
	o.Started = exchange.NoStep
	if d.Start != nil {
		o.Started = d.Start.Step
	}
	running := d.Start != nil && d.Start.Step >= d.Acknowledged && !w.silent
	pods := w.pods(run)
	for n := range d.Assignments {
		o.Workers = append(o.Workers, exchange.Worker{PodUID: pods[n], Connected: !w.absent, Ready: !w.absent, Reported: running, Final: running})
	}
	if running {
		merged := measure.NewMeasurement(max(1, w.requests))
		n := int64(10 * len(d.Assignments))
		merged.Due, merged.Window = n, time.Second
		merged.Timeline, merged.UserTime = &measure.Timeline{}, time.Duration(n)*time.Second
		merged.FirstStart, merged.LastStart = d.Start.At, d.Start.At.Add(time.Millisecond)
		r := &merged.Requests[0]
		r.Sent, r.Expected, r.CompletedInWindow, r.ExpectedInWindow = n, n, n, n
		r.Outcomes[measure.Success] = n
		for range n {
			r.Response.Record(5 * time.Millisecond)
			r.Service.Record(5 * time.Millisecond)
		}
		o.Step = &exchange.Report{
			Step: d.Start.Step, Merged: merged, Until: d.Start.At.Add(time.Second), ShortestWindow: time.Second,
			Reporting: int32(len(d.Assignments)), Final: int32(len(d.Assignments)),
		}
	}
	return o
}

// unlimited has room for the runs of all tests together: they share an API server.
var unlimited = limitedTo(noLimits)

const noLimits = "limits: {runs: 10000, workers: 100000, namespaces: [{runs: 10000}]}"

// limitedTo is the policy of a document.
func limitedTo(document string) *policy.Policy {
	p, err := policy.Load([]byte(document))
	if err != nil {
		panic(err)
	}
	return p
}

// fixture is a reconciler on a real API server, with a clock that stands still
// until it is told to go on.
type fixture struct {
	t        *testing.T
	client   client.Client
	clock    *clocktesting.FakePassiveClock
	workers  *workers
	recorder *events.FakeRecorder
	*loadtest.Reconciler
}

// crowded is a fixture without workers, with what a document says of the runs of each namespace, and more.
func crowded(t *testing.T, ofNamespace, more string) *fixture {
	t.Helper()
	r, limits := newFixture(t, apiserver.Client(t)), limitedTo("limits: {runs: 10000, workers: 100000, namespaces: [{"+ofNamespace+"}]}\n"+more)
	r.workers.absent, r.Policy = true, func() *policy.Policy { return limits }
	return r
}

func newFixture(t *testing.T, c client.Client) *fixture {
	r := &fixture{
		t: t, client: c, workers: &workers{pods: func(run coordinator.RunID) map[int]string { return podUIDs(t, run) }}, recorder: events.NewFakeRecorder(1000),
		clock: clocktesting.NewFakePassiveClock(time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)),
	}
	r.Reconciler = &loadtest.Reconciler{
		Policy: func() *policy.Policy { return unlimited },
		Client: asCached{c}, Uncached: unhurried{c}, Recorder: r.recorder, Clock: r.clock, Workers: r.workers, Runs: loadtest.NewRuns(),
		TargetAccess: &targetaccess.Checker{Reader: unhurried{c}},
		Children: func() desired.Config {
			return desired.Config{WorkerImage: "worker:test", Coordinator: "coordinator:9443", CA: "CA"}
		},
	}
	return r
}

// asCached reads LoadTests at once, and as the operator's cache has them.
type asCached struct{ client.Client }

func (c asCached) Get(ctx context.Context, name client.ObjectKey, o client.Object, options ...client.GetOption) error {
	err := c.Client.Get(ctx, name, o, options...)
	if lt, ok := o.(*v1beta1.LoadTest); ok && err == nil {
		err = inCache(lt)
	}
	return err
}

func (c asCached) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	err := c.Client.List(ctx, list, options...)
	if of, ok := list.(*v1beta1.LoadTestList); ok && err == nil {
		for i := range of.Items {
			err = errors.Join(err, inCache(&of.Items[i]))
		}
	}
	return err
}

// inCache makes of a LoadTest what the cache has of it.
func inCache(lt *v1beta1.LoadTest) error {
	transform, err := transformOfLoadTests()
	if err == nil {
		_, err = transform(lt)
	}
	return err
}

// transformOfLoadTests is what the operator's cache does with LoadTests.
var transformOfLoadTests = sync.OnceValues(func() (toolscache.TransformFunc, error) {
	options, _, err := loadtest.CacheOptions()
	for kind, of := range options.ByObject {
		if _, ok := kind.(*v1beta1.LoadTest); ok {
			return of.Transform, err
		}
	}
	return nil, errors.Join(err, errors.New("the cache has no options for LoadTests"))
})

// readPastCache replaces the reader of all that the reconciler reads past its cache.
func (r *fixture) readPastCache(reader client.Reader) {
	r.Uncached, r.TargetAccess.Reader = reader, reader
}

// unhurried reads for as long as it takes: a busy API server may need longer than the
// seconds that the reconciler gives what it reads of a target (TestSilentAPIServerHoldsUp…, in targetaccess and podreader).
type unhurried struct{ client.Reader }

func (u unhurried) Get(ctx context.Context, name client.ObjectKey, o client.Object, options ...client.GetOption) error {
	ctx, cancel := lengthened(ctx)
	defer cancel()
	return u.Reader.Get(ctx, name, o, options...)
}

func (u unhurried) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	ctx, cancel := lengthened(ctx)
	defer cancel()
	return u.Reader.List(ctx, list, options...)
}

// lengthened is a context without its deadline. It ends when the context is canceled.
func lengthened(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithTimeout(context.WithoutCancel(ctx), await.Patience)
	stop := context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.Canceled) {
			cancel()
		}
	})
	return longer, func() { stop(); cancel() }
}

// hello is the smallest LoadTest of two workers and one rung, with the Service of its
// target.
func hello(t *testing.T) *v1beta1.LoadTest {
	t.Helper()
	lt := withoutService(t)
	service := &corev1.Service{Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "shortener"}, Ports: []corev1.ServicePort{{Port: 8080}}}}
	service.Namespace, service.Name = lt.Namespace, "shortener"
	must.Succeed(t, apiserver.Client(t).Create(t.Context(), service))
	return lt
}

// withoutService is hello before there is a Service.
func withoutService(t *testing.T) *v1beta1.LoadTest {
	t.Helper()
	lt := &v1beta1.LoadTest{Spec: v1beta1.LoadTestSpec{
		Target:                  v1beta1.Target{URL: "http://shortener:8080"},
		Requests:                []v1beta1.Request{{Name: "health", HTTP: &v1beta1.HTTPRequest{Path: "/health"}}},
		Parallelism:             ptr.To[int32](2),
		Ladder:                  &v1beta1.Ladder{Users: []int32{10}, Duration: metav1.Duration{Duration: time.Second}},
		Thresholds:              []v1beta1.Threshold{{Metric: "p50", Max: ptr.To(intstr.Parse("200ms"))}},
		TTLSecondsAfterFinished: ptr.To[int32](600),
	}}
	lt.Namespace, lt.Name = apiserver.Namespace(t), "hello"
	must.Succeed(t, apiserver.Client(t).Create(t.Context(), lt))
	return lt
}

// pass is one pass of the reconciler, after which lt is as it is stored.
func (r *fixture) pass(lt *v1beta1.LoadTest) (ctrl.Result, error) {
	r.t.Helper()
	result, err := r.Reconcile(r.t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(lt)})
	if getErr := apiserver.Client(r.t).Get(r.t.Context(), client.ObjectKeyFromObject(lt), lt); client.IgnoreNotFound(getErr) != nil {
		r.t.Fatal(getErr)
	}
	return result, err
}

func (r *fixture) mustPass(lt *v1beta1.LoadTest) ctrl.Result {
	r.t.Helper()
	result, err := r.pass(lt)
	must.Succeed(r.t, err)
	return result
}

// prepare passes until the workers of a run have their pods.
func (r *fixture) prepare(lt *v1beta1.LoadTest) {
	r.t.Helper()
	r.mustPass(lt)
	r.mustPass(lt)
	bringPods(r.t, lt)
}

// after moves the clock.
func (r *fixture) after(d time.Duration) { r.clock.SetTime(r.clock.Now().Add(d)) }

// bringPods does what the Job controller and the kubelets do.
func bringPods(t *testing.T, lt *v1beta1.LoadTest) {
	t.Helper()
	c := apiserver.Client(t)
	job := &batchv1.Job{}
	must.Succeed(t, c.Get(t.Context(), client.ObjectKeyFromObject(lt), job))
	for n := range *job.Spec.Completions {
		apiserver.Pod(t, c, job, n)
	}
}

// podUIDs are those of a run's pods, by number.
func podUIDs(t *testing.T, run coordinator.RunID) map[int]string {
	t.Helper()
	var pods corev1.PodList
	must.Succeed(t, apiserver.Client(t).List(t.Context(), &pods, client.MatchingLabels{desired.LabelRun: string(run)}))
	uids := map[int]string{}
	for i := range pods.Items {
		n, err := strconv.Atoi(pods.Items[i].Annotations[batchv1.JobCompletionIndexAnnotation])
		must.Succeed(t, err)
		uids[n] = string(pods.Items[i].UID)
	}
	return uids
}

// said are the events emitted so far.
func (r *fixture) said() []string {
	var out []string
	for {
		select {
		case e := <-r.recorder.Events:
			out = append(out, e)
		default:
			return out
		}
	}
}
