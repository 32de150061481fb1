package loadtestschedule_test

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtestschedule"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtestschedule/decision"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestMain(m *testing.M) { apiserver.Start(m) }

// fixture is a reconciler on a real API server, with a clock that stands still until it is
// set. It begins at the first full hour after the API server created a schedule, so that
// no time of the schedule was missed, whatever the time of the test.
type fixture struct {
	t         *testing.T
	namespace string
	client    client.Client
	clock     *clocktesting.FakePassiveClock
	recorder  *events.FakeRecorder
	policy    *policy.Policy
	*loadtestschedule.Reconciler
}

func newFixture(t *testing.T, c client.Client) *fixture {
	t.Helper()
	f := &fixture{
		t: t, client: c, namespace: apiserver.Namespace(t), recorder: events.NewFakeRecorder(1000), policy: load(t, ""),
		clock: clocktesting.NewFakePassiveClock(time.Time{}),
	}
	f.restart()
	return f
}

// restart is another process in the place of the first.
func (f *fixture) restart() {
	f.Reconciler = &loadtestschedule.Reconciler{
		Client: asCached{f.client}, Uncached: f.client, Recorder: f.recorder, Clock: f.clock,
		Policy: func() *policy.Policy { return f.policy },
	}
}

// asCached reads schedules at once, and as the operator's cache has them.
type asCached struct{ client.Client }

func (c asCached) Get(ctx context.Context, name client.ObjectKey, o client.Object, options ...client.GetOption) error {
	err := c.Client.Get(ctx, name, o, options...)
	if s, ok := o.(*v1beta1.LoadTestSchedule); ok {
		decision.WithoutTemplate(s)
	}
	return err
}

func load(t *testing.T, document string) *policy.Policy {
	t.Helper()
	p, err := policy.Load([]byte(document))
	must.Succeed(t, err)
	return p
}

// hourly is a schedule that starts a small LoadTest.
func (f *fixture) hourly(name string, change func(*v1beta1.LoadTestScheduleSpec)) *v1beta1.LoadTestSchedule {
	f.t.Helper()
	s := &v1beta1.LoadTestSchedule{Spec: v1beta1.LoadTestScheduleSpec{
		Schedule: "0 * * * *", SuccessfulRunsHistoryLimit: new(int32(3)), FailedRunsHistoryLimit: new(int32(1)),
		Template: v1beta1.LoadTestTemplate{
			Metadata: v1beta1.TemplateMetadata{Labels: map[string]v1beta1.LabelValue{"team": "shop"}},
			Spec: v1beta1.LoadTestSpec{
				Target:   v1beta1.Target{URL: "http://shortener:8080"},
				Requests: []v1beta1.Request{{Name: "health", HTTP: &v1beta1.HTTPRequest{Path: "/health"}}},
				Ladder:   &v1beta1.Ladder{Users: []int32{10}, Duration: metav1.Duration{Duration: time.Second}},
			},
		},
	}}
	s.Namespace, s.Name = f.namespace, name
	if change != nil {
		change(&s.Spec)
	}
	must.Succeed(f.t, apiserver.Client(f.t).Create(f.t.Context(), s))
	if next := s.CreationTimestamp.UTC().Truncate(time.Hour).Add(time.Hour); f.clock.Now().Before(next) {
		f.clock.SetTime(next)
	}
	return s
}

// settle passes until a pass asks for nothing at once, after which s is as it is stored.
func (f *fixture) settle(s *v1beta1.LoadTestSchedule) ctrl.Result {
	f.t.Helper()
	for range 20 {
		result, err := f.Reconcile(f.t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(s)})
		must.Succeed(f.t, err)
		before := s.ResourceVersion
		f.read(s)
		if before == s.ResourceVersion && (result.RequeueAfter == 0 || result.RequeueAfter > time.Second) {
			return result
		}
	}
	f.t.Fatal("it does not settle")
	return ctrl.Result{}
}

func (f *fixture) read(o client.Object) {
	f.t.Helper()
	must.Succeed(f.t, apiserver.Client(f.t).Get(f.t.Context(), client.ObjectKeyFromObject(o), o))
}

func (f *fixture) update(o client.Object) {
	f.t.Helper()
	must.Succeed(f.t, apiserver.Client(f.t).Update(f.t.Context(), o))
}

func (f *fixture) after(d time.Duration) { f.clock.SetTime(f.clock.Now().Add(d)) }

// runs are the LoadTests of the namespace.
func (f *fixture) runs() []v1beta1.LoadTest {
	f.t.Helper()
	var list v1beta1.LoadTestList
	must.Succeed(f.t, apiserver.Client(f.t).List(f.t.Context(), &list, client.InNamespace(f.namespace)))
	return list.Items
}

// one is the only LoadTest that has not finished.
func (f *fixture) one() *v1beta1.LoadTest {
	f.t.Helper()
	var found *v1beta1.LoadTest
	for _, lt := range f.runs() {
		if lt.Status.Verdict == "" {
			if found != nil {
				f.t.Fatalf("both %s and %s have not finished", found.Name, lt.Name)
			}
			found = &lt
		}
	}
	if found == nil {
		f.t.Fatal("no LoadTest was started")
	}
	return found
}

// finish does what the operator does with a LoadTest.
func (f *fixture) finish(lt *v1beta1.LoadTest, verdict v1beta1.Verdict, p99 time.Duration) {
	f.t.Helper()
	now := metav1.NewTime(f.clock.Now().Truncate(time.Second))
	lt.Status.Phase, lt.Status.Verdict, lt.Status.StartTime, lt.Status.CompletionTime = v1beta1.PhaseFinished, verdict, &now, &now
	for _, condition := range []string{v1beta1.ConditionCarriedOut, v1beta1.ConditionFinished} {
		lt.Status.Conditions = append(lt.Status.Conditions, metav1.Condition{Type: condition, Status: metav1.ConditionTrue, Reason: string(verdict), LastTransitionTime: now})
	}
	lt.Status.Workers.Desired = 1
	lt.Status.Requests = plan.RequestNames(&lt.Spec)
	lt.Status.Steps = plan.Steps(&lt.Spec)
	step := &lt.Status.Steps[0]
	step.State, step.WorkersReporting = v1beta1.StepComplete, 1
	step.Result = &v1beta1.StepResult{Counts: v1beta1.Counts{Sent: 1000}, ResponseTime: &v1beta1.Latency{P99: &metav1.Duration{Duration: p99}}}
	must.Succeed(f.t, apiserver.Client(f.t).Status().Update(f.t.Context(), lt))
}

// said are the events so far.
func (f *fixture) said() []string {
	var out []string
	for {
		select {
		case e := <-f.recorder.Events:
			out = append(out, e)
		default:
			return out
		}
	}
}

// failing fails the nth of some requests.
type failing struct {
	client.Client
	create func(context.Context, client.Object) error
}

func (c failing) Create(ctx context.Context, o client.Object, options ...client.CreateOption) error {
	if err := c.create(ctx, o); err != nil {
		return err
	}
	return c.Client.Create(ctx, o, options...)
}
