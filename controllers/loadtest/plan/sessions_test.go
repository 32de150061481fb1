package plan_test

import (
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// visits is a spec whose journey waits for 3 s at most and sends three requests, at a rate.
func visits(rate string, arrivals v1beta1.Arrivals) func(*v1beta1.LoadTestSpec) {
	return with(shop, stepsOf(v1beta1.Step{Name: "visits", Rate: decimal(rate), Arrivals: arrivals, Duration: duration(time.Minute), WarmUp: duration(time.Second)}))
}

// A rate is one of sessions, of which each worker has its share; their requests are not known beforehand.
func TestARateOfJourneysIsOneOfSessions(t *testing.T) {
	for name, tt := range map[string]struct {
		arrivals   v1beta1.Arrivals
		sessions   int64
		most       int64
		ofTheFirst int64
	}{
		"even":  {"", 300, 300, 100},
		"drawn": {v1beta1.ArrivalsPoisson, 0, 300 + 104 + 10, 0}, // 6·√300 is 103.9
	} {
		t.Run(name, func(t *testing.T) {
			s := spec(with(visits("5", tt.arrivals), parallelism(3)))
			load := plan.Steps(s)[0].Load
			if load.Sessions == nil || *load.Sessions != tt.sessions || load.Requests != 0 {
				t.Fatalf("the load is %+v, want %d sessions", load, tt.sessions)
			}
			if _, known := plan.MostRequests(&load); known || plan.MostPerSecond(&load) != 0 || plan.MostSessions(&load) != tt.most {
				t.Errorf("its requests are known: %v; %d sessions at most, want %d", known, plan.MostSessions(&load), tt.most)
			}
			if n, what := plan.Due(&load); n != tt.sessions || what != "sessions" {
				t.Errorf("%d %s are due, want %d sessions", n, what, tt.sessions)
			}
			if n, known := plan.DueOn(&load, 0, 3); n != tt.ofTheFirst || known != (tt.sessions > 0) {
				t.Errorf("%d are due on the first worker, known: %v; want %d", n, known, tt.ofTheFirst)
			}
			if step := assignments(t, s)[0].GetSteps()[0]; step.GetTotal() != tt.sessions || step.GetShare().GetCount() != tt.ofTheFirst || step.GetArrivals() == nil {
				t.Errorf("the first worker gets %v", step)
			}
		})
	}
	for name, s := range map[string]*v1beta1.LoadTestSpec{"a rate without journeys": withSteps(v1beta1.Step{Rate: decimal("5"), Duration: duration(time.Second)}), "users": spec(shop)} {
		load := plan.Steps(s)[0].Load
		if n, what := plan.Due(&load); load.Sessions != nil || plan.MostSessions(&load) != 0 || n != load.Requests || what != "requests" {
			t.Errorf("%s: %+v has %d %s", name, load, n, what)
		}
	}
}

// What a session may send, and how many may wait at a time, decides how many workers there are.
func TestWorkersForSessions(t *testing.T) {
	for name, tt := range map[string]struct {
		rate string
		want int32
	}{
		"few":                           {"10", 1},
		"three requests each":           {"833", 1},
		"three requests each, and more": {"834", 2},
	} {
		t.Run(name, func(t *testing.T) { same.As(t, "workers", tt.want, plan.Workers(spec(visits(tt.rate, "")))) })
	}
	long := spec(visits("100", ""))
	long.Journeys[0].Steps[1].Think = v1beta1.NewThink(0, time.Minute)
	if got := plan.Workers(long); got != 3 { // 6000 wait at a time
		t.Errorf("%d workers for sessions that wait for a minute, want 3", got)
	}
}

func TestSessionsAreLimitedByWhatTheySend(t *testing.T) {
	rules := policy.Everything()
	rules.Limits.Rate = 15
	lt := &v1beta1.LoadTest{Spec: *spec(visits("5", ""))}
	lt.Namespace = "shop"
	same.As(t, "refusal of 5 sessions of 3 requests", "", refusalOf(lt, rules))
	lt.Spec.Steps[0].RampTo = decimal("6")
	want := "spec.steps[0]: sessions of up to 3 requests each send up to 18 requests per second, which is more than a LoadTest of namespace shop may have; at most 15 are accepted."
	if _, refusal := plan.New(lt, rules); refusal == nil || !strings.Contains(refusal.Message, want) {
		t.Errorf("refused with %v, want %s", refusal, want)
	}
	// A journey of many requests at an absurd rate is refused, too, and does not overflow.
	lt.Spec.Steps[0].Rate, lt.Spec.Steps[0].RampTo = decimal("999999999"), nil
	for range 31 {
		lt.Spec.Journeys[0].Steps = append(lt.Spec.Journeys[0].Steps, v1beta1.JourneyStep{Request: "buy", Times: 100})
	}
	if _, refusal := plan.New(lt, rules); refusal == nil {
		t.Error("3,100 requests of 999,999,999 sessions a second are accepted")
	}
}
