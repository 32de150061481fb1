package lifecycle_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/queue"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/world"
)

// ladder is a small test of three workers: two rungs with a rest between them.
func ladder() v1beta1.LoadTestSpec {
	return v1beta1.LoadTestSpec{
		Target:      v1beta1.Target{Service: &v1beta1.ServiceReference{Name: "shortener", Port: ptr.To(intstr.FromInt32(8080)), Scheme: v1beta1.SchemeHTTP}},
		Requests:    []v1beta1.Request{{Name: "health", HTTP: &v1beta1.HTTPRequest{Path: "/health"}}},
		Parallelism: ptr.To[int32](3),
		Ladder: &v1beta1.Ladder{
			Users: []int32{100, 1000}, RatePerUser: ptr.To(v1beta1.NewDecimal("1")),
			Duration: metav1.Duration{Duration: 3 * time.Second}, Rest: &metav1.Duration{Duration: 2 * time.Second},
		},
		Thresholds:              []v1beta1.Threshold{{Metric: "p95", Max: ptr.To(intstr.Parse("200ms"))}},
		StartDeadlineSeconds:    ptr.To[int64](60),
		TTLSecondsAfterFinished: ptr.To[int32](3600),
	}
}

// questions are asked of a target that is to be of one strategy.
func questions() []v1beta1.Preflight {
	return []v1beta1.Preflight{
		{
			HTTP:   &v1beta1.Query{Path: "/version"},
			Expect: &v1beta1.Expectation{JSON: []v1beta1.ExpectedValue{{Path: ".strategy", Equals: v1beta1.JSONText("lua")}, {Path: ".store", Equals: v1beta1.JSONText("redis")}}},
		},
		{Name: "healthy", HTTP: &v1beta1.Query{Path: "/health"}},
	}
}

// aborts makes the threshold abort a ladder of longer rungs.
func aborts(w *world.World) {
	w.LoadTest().Spec.Ladder.Duration = metav1.Duration{Duration: 20 * time.Second}
	w.LoadTest().Spec.Thresholds[0].OnBreach = v1beta1.BreachAbort
}

// rules are those of a configuration.
func rules(t *testing.T, document string) policy.Rules {
	t.Helper()
	p, err := policy.Load([]byte(document))
	must.Succeed(t, err)
	return p.For("default")
}

// stories are the courses that a run can take. Each is written down in a golden file, to
// be read and reviewed as a text.
var stories = map[string]func(*world.World){
	"passes": func(*world.World) {},
	"breaches": func(w *world.World) {
		w.LoadTest().Spec.Ladder.StopOnBreach = true
		w.Latency = 300 * time.Millisecond
	},
	"breaches-in-the-last-step": func(w *world.World) {
		w.LoadTest().Spec.Ladder.StopOnBreach = true
		w.After(6*time.Second, func() { w.Latency = 300 * time.Millisecond })
	},
	"aborts": func(w *world.World) {
		w.Latency = 300 * time.Millisecond
		aborts(w)
	},
	"aborts-users-without-a-rate": func(w *world.World) {
		w.Latency = 300 * time.Millisecond
		w.LoadTest().Spec.Ladder.RatePerUser = nil
		aborts(w)
	},
	"aborts-nothing": aborts,
	"aborts-once-though-terminated-then": func(w *world.World) {
		w.Latency = 300 * time.Millisecond
		aborts(w)
		w.After(8*time.Second, func() { w.LoadTest().Spec.Terminate = true })
	},
	"waits-in-the-queue": func(w *world.World) {
		w.Place = &queue.Place{Number: 2, Of: 3, Reason: v1beta1.ReasonNamespaceRuns, Message: "namespace default has 2 runs, as many as it may have."}
		w.After(20*time.Second, func() { w.Place = &queue.Place{Begins: true} })
	},
	"gives-way-to-a-run-that-waits": func(w *world.World) {
		for _, x := range w.Workers {
			x.Refused = true
		}
		w.LoadTest().Spec.StartDeadlineSeconds = ptr.To[int64](300)
		w.Place, w.PlaceAwaited = &queue.Place{Begins: true}, true
		w.After(119*time.Second, func() { // another is to have the place
			w.Place = &queue.Place{Number: 1, Of: 1, Reason: queue.NamespaceRuns, Message: "1 of 1 runs of namespace default are under way."}
		})
		w.After(185*time.Second, func() { w.Place, w.PlaceAwaited = &queue.Place{Begins: true}, false })
		w.After(200*time.Second, func() { // the quota is raised
			for _, x := range w.Workers {
				x.Refused = false
				x.Boot()
			}
		})
	},
	"gives-way-until-its-start-deadline": func(w *world.World) {
		for _, x := range w.Workers {
			x.Refused = true
		}
		w.LoadTest().Spec.StartDeadlineSeconds = ptr.To[int64](300)
		w.Place, w.PlaceAwaited = &queue.Place{Begins: true}, true
	},
	"gives-no-way-after-a-setup": func(w *world.World) {
		w.Workers[1].Refused, w.PlaceAwaited = true, true
		w.LoadTest().Spec.Setup = &v1beta1.Setup{}
		w.LoadTest().Spec.StartDeadlineSeconds = ptr.To[int64](150)
	},
	"gives-way-before-a-setup": func(w *world.World) {
		for _, x := range w.Workers {
			x.Refused = true
		}
		w.PlaceAwaited = true
		w.LoadTest().Spec.Setup = &v1beta1.Setup{}
		w.LoadTest().Spec.StartDeadlineSeconds = ptr.To[int64](150)
	},
	"stopped": func(w *world.World) {
		w.After(4*time.Second, func() { w.Configure("stop: {by: jane, reason: incident 4711}") })
	},
	"stopped-before-it-begins": func(w *world.World) {
		w.Configure("stop: {by: jane, reason: incident 4711}")
		w.After(30*time.Second, func() { w.Configure("") })
	},
	"stopped-while-workers-start": func(w *world.World) { w.After(time.Second, func() { w.Configure("stop: {}") }) },
	"stopped-for-a-moment": func(w *world.World) {
		w.After(4*time.Second, func() { w.Configure("stop: {by: jane}") })
		w.After(4*time.Second+time.Millisecond, func() { w.Configure("") })
	},
	"quiet-hours-come": func(w *world.World) {
		w.LoadTest().Spec.Ladder.Rest = &metav1.Duration{Duration: 54 * time.Second}
		w.Configure(`quietHours: [{from: "11:01", to: "13:00", timeZone: Europe/Berlin, reason: The nightly batch runs.}]`)
	},
	"quiet-hours-go":         func(w *world.World) { w.Configure(`quietHours: [{from: "09:00", to: "10:01"}]`) },
	"requests-are-in-flight": func(w *world.World) { w.InFlight = 5 },
	"in-flight-when-terminated": func(w *world.World) {
		w.InFlight = 5
		w.After(4*time.Second, func() { w.LoadTest().Spec.Terminate = true })
	},
	"generator-lags": func(w *world.World) { w.Lateness = 50 * time.Millisecond },
	"worker-never-came": func(w *world.World) {
		w.Workers[2].Hindered = [2]string{v1beta1.ReasonUnschedulable, "waits for a node: 0/3 nodes are available: 3 Insufficient memory."}
	},
	"quota-is-exhausted": func(w *world.World) { w.Workers[2].Refused = true },
	"quota-is-raised": func(w *world.World) {
		for _, x := range w.Workers {
			x.Refused = true
		}
		w.After(20*time.Second, func() {
			for _, x := range w.Workers {
				x.Refused = false
				x.Boot()
			}
		})
	},
	"a-secret-is-missing": func(w *world.World) {
		w.LoadTest().Spec.Target.Headers = []v1beta1.Header{{Name: "Authorization", ValueFrom: &v1beta1.HeaderSource{Secret: v1beta1.KeyReference{Name: "loadtest-api", Key: "token"}}}}
		for _, key := range []string{"a.csv", "b.csv", "c.csv", "d.csv", "e.csv"} {
			table := v1beta1.Data{Name: key, From: v1beta1.Content{ConfigMap: &v1beta1.KeyReference{Name: "rows", Key: key}}, Format: v1beta1.DataFormatCSV}
			w.LoadTest().Spec.Data = append(w.LoadTest().Spec.Data, table)
		}
		for _, x := range w.Workers {
			x.Stuck = true
		}
	},
	"cpu-is-throttled": func(w *world.World) { w.Throttled = 50 * time.Millisecond },
	"worker-refused": func(w *world.World) {
		w.Workers[1].Refuses = [2]string{v1beta1.ReasonWorkerRefused, "333 users need 10000 file descriptors, 1024 are allowed; use 31 workers or more"}
	},
	"setup-fails": func(w *world.World) {
		w.Workers[1].Refuses = [2]string{v1beta1.ReasonSetupFailed, `setup.fill: request "create": status 507 Insufficient Storage instead of 200 to 299`}
	},
	"target-unreachable": func(w *world.World) {
		for _, x := range w.Workers {
			x.Refuses = [2]string{v1beta1.ReasonTargetUnreachable, "spec.target.url: shortener does not resolve"}
		}
	},
	"service-comes-late": func(w *world.World) {
		w.LoadTest().Spec.Target.Service.Port = ptr.To(intstr.FromString("http"))
		w.NoPort = "Service shortener (spec.target.service) does not exist."
		w.After(20*time.Second, func() { w.Port, w.NoPort = 8081, "" })
	},
	"service-has-no-such-port": func(w *world.World) {
		w.LoadTest().Spec.Target.Service.Port = ptr.To(intstr.FromString("http"))
		w.NoPort = "Service shortener has no port named http; its ports: 80 web. Correct spec.target.service.port."
	},
	"target-comes-late": func(w *world.World) {
		w.Workers[0].Refuses = [2]string{v1beta1.ReasonTargetUnreachable, "connection refused"}
		w.After(20*time.Second, w.Workers[0].BecomesReady)
	},
	"setup-takes-time": func(w *world.World) {
		w.Workers[0].Refuses = [2]string{"", "setup: 1200 of 5000 requests sent"}
		w.Workers[0].Busy = true
		w.After(20*time.Second, w.Workers[0].BecomesReady)
	},
	"preflight-passes": func(w *world.World) { w.LoadTest().Spec.Preflight = questions() },
	"preflight-fails": func(w *world.World) {
		w.LoadTest().Spec.Preflight = questions()
		for _, x := range w.Workers[1:] {
			x.Refuses = [2]string{v1beta1.ReasonPreflightFailed, `preflight: GET /version: .strategy: a string of 4 bytes instead of "lua"`}
		}
	},
	"preflight-by-a-call-fails": func(w *world.World) {
		w.LoadTest().Spec.Preflight = []v1beta1.Preflight{{Name: "cart", GRPC: &v1beta1.Call{Method: "shop.v1.Cart/Find"}}}
		for _, x := range w.Workers {
			x.Refuses = [2]string{v1beta1.ReasonPreflightFailed, "preflight: cart: grpc.method shop.v1.Cart/Find: status 5 NOT_FOUND instead of OK"}
		}
	},
	"preflight-without-a-health-service": func(w *world.World) {
		w.LoadTest().Spec.Preflight = []v1beta1.Preflight{{GRPCHealth: &v1beta1.GRPCHealth{}}}
		for _, x := range w.Workers {
			x.Refuses = [2]string{v1beta1.ReasonPreflightFailed, "preflight: grpcHealth: the target has no health service (status 12 UNIMPLEMENTED): register grpc.health.v1.Health there, or call a method that it has by preflight.grpc"}
		}
	},
	"held-for-too-long": func(w *world.World) {
		w.Configure("limits: {namespaces: [{held: 20s}]}")
		w.After(4*time.Second, func() { w.LoadTest().Spec.Suspend = true })
	},
	"preflight-waits-then-suspended": func(w *world.World) {
		w.LoadTest().Spec.Preflight = questions()
		for _, x := range w.Workers {
			x.Refuses = [2]string{v1beta1.ReasonTargetUnreachable, "preflight: GET /version: status 503 Service Unavailable instead of 200 to 299: the target is not ready"}
		}
		w.After(10*time.Second, func() { w.LoadTest().Spec.Suspend = true })
		w.After(20*time.Second, func() {
			w.LoadTest().Spec.Suspend = false
			for _, x := range w.Workers {
				x.Refuses = [2]string{}
			}
		})
	},
	"preflight-is-changed-while-held": func(w *world.World) {
		w.LoadTest().Spec.Preflight = questions()
		for _, x := range w.Workers {
			x.Lingers = true // and says, once the run is held, that it is ready
		}
		w.After(1500*time.Millisecond, func() { w.LoadTest().Spec.Suspend = true })
		w.After(2500*time.Millisecond, func() {
			w.LoadTest().Spec.Suspend = false
			w.LoadTest().Spec.Preflight[0].Expect.JSON[0].Equals = v1beta1.JSONText("hash")
		})
	},
	"worker-dies": func(w *world.World) { w.Workers[1].DiesIn = 1500 * time.Millisecond },
	"every-one-dies": func(w *world.World) {
		for _, x := range w.Workers {
			x.DiesIn = 1500 * time.Millisecond
		}
	},
	"workers-exceed-the-plan": func(w *world.World) { w.Excess = 1 },
	"worker-is-drained":       func(w *world.World) { w.After(4*time.Second, w.Workers[0].Drain) },
	"only-worker-is-drained-in-the-last-step": func(w *world.World) {
		w.LoadTest().Spec.Parallelism = ptr.To[int32](1)
		w.SetWorkers(1)
		w.After(9*time.Second, w.Workers[0].Drain)
	},
	"worker-is-drained-in-a-rest": func(w *world.World) { w.After(6*time.Second, w.Workers[0].Drain) },
	"worker-falls-silent": func(w *world.World) {
		// Its node is cut off during the first step: no pod status, no session.
		w.After(4*time.Second, w.Workers[1].FallSilent)
	},
	"terminated":              func(w *world.World) { w.After(4*time.Second, func() { w.LoadTest().Spec.Terminate = true }) },
	"terminated-before-start": func(w *world.World) { w.After(time.Second, func() { w.LoadTest().Spec.Terminate = true }) },
	"deadline":                func(w *world.World) { w.LoadTest().Spec.ActiveDeadlineSeconds = ptr.To[int64](4) },
	"suspended-then-resumed": func(w *world.World) {
		w.LoadTest().Spec.Suspend = true
		w.After(10*time.Second, func() { w.LoadTest().Spec.Suspend = false })
		w.After(11*time.Second, func() { w.LoadTest().Spec.Suspend = true })
		w.After(20*time.Second, func() { w.LoadTest().Spec.Suspend = false })
	},
	"suspended-between-steps": func(w *world.World) {
		w.After(4*time.Second, func() { w.LoadTest().Spec.Suspend = true })
		w.After(30*time.Second, func() { w.LoadTest().Spec.Suspend = false })
	},
	"target-not-allowed": func(w *world.World) { w.LoadTest().Spec.Target = v1beta1.Target{URL: "http://example.com"} },
}

func TestStories(t *testing.T) {
	for name, script := range allStories() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, ladder())
			script(w)
			checkStory(t, w, "stories", name)
		})
	}
}

// TestStoriesInAnyOrder lets what is due at the same instant happen in random
// order: how the run ends must not depend on it. -short has one such order.
func TestStoriesInAnyOrder(t *testing.T) {
	orders := uint64(2)
	if testing.Short() {
		orders = 1
	}
	for name, script := range allStories() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want *ending
			for seed := range orders + 1 {
				w := newWorld(t, ladder())
				if seed > 0 {
					w.Shuffle = rand.New(rand.NewPCG(seed, seed))
				}
				script(w)
				story := storyOf(t, w)
				got := endingOf(w.LoadTest().Status)
				if want == nil {
					want = got
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("seed %d ends otherwise (-default +got):\n%s\n%s", seed, diff, story)
				}
			}
		})
	}
}

// ending is what must not depend on the order; how many workers were ready, or
// which of them is named in a message, may.
type ending struct {
	Phase      v1beta1.Phase
	Verdict    v1beta1.Verdict
	Conditions map[string]string
	Steps      []v1beta1.StepState
	Sent       []int64
	Thresholds []v1beta1.ThresholdStatus
}

func endingOf(s v1beta1.LoadTestStatus) *ending {
	e := &ending{Phase: s.Phase, Verdict: s.Verdict, Conditions: map[string]string{}, Thresholds: s.Thresholds}
	for _, c := range s.Conditions {
		e.Conditions[c.Type] = string(c.Status) + " " + c.Reason
	}
	for _, step := range s.Steps {
		e.Steps = append(e.Steps, step.State)
		if step.Result != nil {
			e.Sent = append(e.Sent, step.Result.Sent)
		}
	}
	return e
}
