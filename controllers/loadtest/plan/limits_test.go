package plan_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// limited are rules with small limits.
func limited() policy.Rules {
	return policy.Rules{Limits: policy.Limits{Users: 1000, Rate: 500, BytesPerSecond: 10 << 10, Workers: 2, Duration: time.Hour}}
}

func usersLadder(ratePerUser *v1beta1.Decimal, users ...int32) func(*v1beta1.LoadTestSpec) {
	return func(s *v1beta1.LoadTestSpec) {
		s.Ladder = &v1beta1.Ladder{Users: users, RatePerUser: ratePerUser, Duration: *duration(time.Second)}
	}
}

func ratesLadder(rates ...v1beta1.Decimal) func(*v1beta1.LoadTestSpec) {
	return func(s *v1beta1.LoadTestSpec) {
		s.Ladder = &v1beta1.Ladder{Rates: rates, Duration: *duration(time.Second)}
	}
}

func stepsOf(steps ...v1beta1.Step) func(*v1beta1.LoadTestSpec) {
	return func(s *v1beta1.LoadTestSpec) { s.Steps = steps }
}

func search(s v1beta1.Search) func(*v1beta1.LoadTestSpec) {
	s.Duration = *duration(time.Second)
	return func(spec *v1beta1.LoadTestSpec) { spec.Search = &s }
}

func with(edits ...func(*v1beta1.LoadTestSpec)) func(*v1beta1.LoadTestSpec) {
	return func(s *v1beta1.LoadTestSpec) {
		for _, edit := range edits {
			edit(s)
		}
	}
}

func body(length int) func(*v1beta1.LoadTestSpec) {
	return func(s *v1beta1.LoadTestSpec) { s.Requests[0].HTTP.Body = strings.Repeat("x", length) }
}

func parallelism(n int32) func(*v1beta1.LoadTestSpec) {
	return func(s *v1beta1.LoadTestSpec) { s.Parallelism = &n }
}

// stored are audits that wait for so long each; 0: as long as by default.
func stored(waits ...time.Duration) func(*v1beta1.LoadTestSpec) {
	return func(s *v1beta1.LoadTestSpec) {
		s.Requests[0].Name = "create"
		for _, wait := range waits {
			a := &v1beta1.Stored{Read: v1beta1.Reading{HTTP: &v1beta1.Query{Path: "/stats"}}, Value: ".links", Requests: []string{"create"}}
			if wait > 0 {
				a.MaxWait = duration(wait)
			}
			s.Audits = append(s.Audits, v1beta1.Audit{Name: "links", Stored: a})
		}
	}
}

// What exceeds a limit is refused with what would be accepted, and that is.
func TestLimitsRefuseWithWhatIsAccepted(t *testing.T) {
	rate := v1beta1.NewDecimal
	setup := func(seconds int64) func(*v1beta1.LoadTestSpec) {
		return func(s *v1beta1.LoadTestSpec) {
			s.StartDeadlineSeconds, s.Requests[0].Name = &seconds, "create"
			s.Setup = &v1beta1.Setup{Fill: &v1beta1.Fill{Request: "create", Count: 1}}
		}
	}
	long := func(d time.Duration, repetitions int32) func(*v1beta1.LoadTestSpec) {
		return with(stepsOf(v1beta1.Step{Name: "1 users", Users: ptr(int32(1)), Duration: duration(d)}, v1beta1.Step{Name: "rest", Pause: duration(5 * time.Minute)}),
			func(s *v1beta1.LoadTestSpec) { s.Repetitions = repetitions })
	}
	tests := map[string]struct {
		refused, accepted func(*v1beta1.LoadTestSpec)
		rules             func(*policy.Limits)
		want              string
	}{
		"users of a ladder": {refused: usersLadder(nil, 10, 2000, 1001), accepted: usersLadder(nil, 10, 1000),
			want: "spec.ladder.users[1]: 2000 users are more than a LoadTest of namespace demo may have; at most 1000 are accepted."},
		"users of the first of two that are largest": {refused: usersLadder(nil, 10, 2000, 2000),
			want: "spec.ladder.users[1]: 2000 users are more than a LoadTest of namespace demo may have; at most 1000 are accepted."},
		"users at the end of a ramp": {
			refused:  stepsOf(v1beta1.Step{Name: "1 to 1001 users", Users: ptr(int32(1)), RampTo: decimal("1001"), Duration: duration(time.Second)}),
			accepted: stepsOf(v1beta1.Step{Name: "1 to 1000 users", Users: ptr(int32(1)), RampTo: decimal("1000"), Duration: duration(time.Second)}),
			want:     "spec.steps[0]: 1001 users are more than a LoadTest of namespace demo may have; at most 1000 are accepted.",
		},
		"users of a burst": {
			refused:  stepsOf(v1beta1.Step{Name: "rest", Pause: duration(time.Second)}, v1beta1.Step{Name: "1001 users x 1", Users: ptr(int32(1001)), RequestsPerUser: ptr(int32(1))}),
			accepted: stepsOf(v1beta1.Step{Name: "rest", Pause: duration(time.Second)}, v1beta1.Step{Name: "1000 users x 1", Users: ptr(int32(1000)), RequestsPerUser: ptr(int32(1))}),
			want:     "spec.steps[1]: 1001 users are more than a LoadTest of namespace demo may have; at most 1000 are accepted.",
		},
		"users of a search": {
			refused:  search(v1beta1.Search{Users: &v1beta1.UsersRange{Min: 1, Max: 1001}}),
			accepted: search(v1beta1.Search{Users: &v1beta1.UsersRange{Min: 1, Max: 1000}}),
			want:     "spec.search.users.max: 1001 users are more than a LoadTest of namespace demo may have; at most 1000 are accepted.",
		},
		"a rate of a ladder": {refused: ratesLadder(rate("1"), rate("500.000001")), accepted: ratesLadder(rate("1"), rate("500")),
			want: "spec.ladder.rates[1]: 500.000001 requests per second are more than a LoadTest of namespace demo may have; at most 500 are accepted."},
		"a rate at the end of a ramp": {
			refused:  stepsOf(v1beta1.Step{Name: "1/s to 600/s", Rate: decimal("1"), RampTo: decimal("600"), Duration: duration(time.Second)}),
			accepted: stepsOf(v1beta1.Step{Name: "1/s to 500/s", Rate: decimal("1"), RampTo: decimal("500"), Duration: duration(time.Second)}),
			want:     "spec.steps[0]: 600 requests per second are more than a LoadTest of namespace demo may have; at most 500 are accepted.",
		},
		"a rate of a search": {
			refused:  search(v1beta1.Search{Rate: &v1beta1.RateRange{Min: rate("1"), Max: rate("501")}}),
			accepted: search(v1beta1.Search{Rate: &v1beta1.RateRange{Min: rate("1"), Max: rate("500")}}),
			want:     "spec.search.rate.max: 501 requests per second are more than a LoadTest of namespace demo may have; at most 500 are accepted.",
		},
		"the rate of users together": {
			refused: usersLadder(decimal("1.5"), 400), accepted: usersLadder(decimal("1.5"), 333),
			want: "spec.ladder.users[0]: 400 users with ratePerUser 1.5 send 600 requests per second together, which is more than a LoadTest of namespace demo may have; at most 500 are accepted, which is 333 users.",
		},
		"the rate of users at the end of a ramp": {
			refused:  stepsOf(v1beta1.Step{Name: "1 to 251 users", Users: ptr(int32(1)), RampTo: decimal("251"), RatePerUser: decimal("2"), Duration: duration(time.Second)}),
			accepted: stepsOf(v1beta1.Step{Name: "1 to 250 users", Users: ptr(int32(1)), RampTo: decimal("250"), RatePerUser: decimal("2"), Duration: duration(time.Second)}),
			want:     "spec.steps[0]: 251 users with ratePerUser 2 send 502 requests per second together, which is more than a LoadTest of namespace demo may have; at most 500 are accepted, which is 250 users.",
		},
		"bytes of a rate": {
			refused: with(body(1024), ratesLadder(rate("100"))), accepted: with(body(1024), ratesLadder(rate("10"))),
			want: "spec.ladder.rates[0]: 100 requests per second with bodies of 1024 bytes are 100Ki a second, which is more than a LoadTest of namespace demo may have; at most 10Ki is accepted, which is 10 requests per second.",
		},
		"bytes of a form": {
			refused: with(form(1021), ratesLadder(rate("100"))), accepted: with(form(1021), ratesLadder(rate("10"))),
			want: "spec.ladder.rates[0]: 100 requests per second with bodies of 1024 bytes are 100Ki a second, which is more than a LoadTest of namespace demo may have; at most 10Ki is accepted, which is 10 requests per second.",
		},
		"bytes of users": {
			refused: with(body(2048), usersLadder(decimal("1"), 10)), accepted: with(body(2048), usersLadder(decimal("1"), 5)),
			want: "spec.ladder.users[0]: 10 requests per second with bodies of 2048 bytes are 20Ki a second, which is more than a LoadTest of namespace demo may have; at most 10Ki is accepted, which is 5 users.",
		},
		"bytes of a whole unit": {
			rules:   func(l *policy.Limits) { l.Rate, l.BytesPerSecond = 0, 1<<20 },
			refused: with(body(2048), ratesLadder(rate("1024"))), accepted: with(body(2048), ratesLadder(rate("512"))),
			want: "spec.ladder.rates[0]: 1024 requests per second with bodies of 2048 bytes are 2Mi a second, which is more than a LoadTest of namespace demo may have; at most 1Mi is accepted, which is 512 requests per second.",
		},
		"a rate of requests that follow redirects": {
			refused: with(follows(4), ratesLadder(rate("101"))), accepted: with(follows(4), ratesLadder(rate("100"))),
			want: "spec.ladder.rates[0]: 101 requests per second are more than a LoadTest of namespace demo may have, as each may follow 4 redirects; at most 100 are accepted.",
		},
		"workers that are asked for": {refused: with(usersLadder(nil, 1), parallelism(3)), accepted: with(usersLadder(nil, 1), parallelism(2)),
			want: "spec.parallelism: 3 workers are more than a LoadTest of namespace demo may have; at most 2 are accepted."},
		"workers that users need": {
			rules:   func(l *policy.Limits) { l.Users = 0 },
			refused: usersLadder(nil, 5001), accepted: usersLadder(nil, 5000),
			want: "spec.ladder.users[0]: 5001 users need 3 workers, which is more than a LoadTest of namespace demo may have; at most 2 are accepted: use at most 5000 users, or set spec.parallelism.",
		},
		"workers that a rate needs": {
			rules:   func(l *policy.Limits) { l.Rate = 0 },
			refused: ratesLadder(rate("6000")), accepted: ratesLadder(rate("5000")),
			want: "spec.ladder.rates[0]: 6000 requests per second need 3 workers, which is more than a LoadTest of namespace demo may have; at most 2 are accepted: use at most 5000 requests per second, or set spec.parallelism.",
		},
		"requests that users with a rate send": {
			rules:   func(l *policy.Limits) { l.Rate = 0 },
			refused: usersLadder(decimal("60"), 100), accepted: usersLadder(decimal("50"), 100),
			want: "spec.ladder.users[0]: 6000 requests per second need 3 workers, which is more than a LoadTest of namespace demo may have; at most 2 are accepted: use at most 5000 requests per second, or set spec.parallelism.",
		},
		"a time that no number holds": {
			refused:  stepsOf(v1beta1.Step{Name: "1 users", Users: ptr(int32(1)), Duration: duration(time.Second)}, v1beta1.Step{Name: "rest", Pause: duration(2e6 * time.Hour)}, v1beta1.Step{Name: "rest (2)", Pause: duration(2e6 * time.Hour)}),
			accepted: func(s *v1beta1.LoadTestSpec) { long(30*time.Minute, 1)(s); s.StartDeadlineSeconds = ptr(int64(7200)) },
			want:     "spec: the plan takes up to 2562047h47m16.854775807s, which is longer than a LoadTest of namespace demo may have; at most 1h is accepted: use shorter or fewer steps, repetitions or pauses.",
		},
		"the time of all repetitions and pauses": {
			refused: long(10*time.Minute, 5), accepted: long(10*time.Minute, 4),
			want: "spec: the plan takes up to 1h15m, which is longer than a LoadTest of namespace demo may have; at most 1h is accepted: use shorter or fewer steps, repetitions or pauses.",
		},
		"workers of a setup": {
			rules:   func(l *policy.Limits) { l.Users, l.Workers = 3, 0 },
			refused: with(usersLadder(nil, 1), parallelism(4), setup(1)), accepted: with(usersLadder(nil, 1), parallelism(3), setup(1)),
			want: "spec.setup: 4 workers, each of which sends it over at least one connection, are more users than a LoadTest of namespace demo may have; at most 3 are accepted: use fewer workers.",
		},
		"the time of a setup": {
			refused: with(long(30*time.Minute, 1), setup(1501)), accepted: with(long(30*time.Minute, 1), setup(1500)),
			want: "spec: the plan takes up to 1h0m1s, which is longer than a LoadTest of namespace demo may have; at most 1h is accepted: use shorter or fewer steps, repetitions or pauses, or a smaller startDeadlineSeconds, which bounds the setup.",
		},
		"the waits of audits, which are read before and after the steps, all at once": {
			refused: with(long(30*time.Minute, 1), stored(time.Minute, 12*time.Minute+31*time.Second)), accepted: with(long(30*time.Minute, 1), stored(time.Minute, 12*time.Minute+30*time.Second)),
			want: "spec: the plan takes up to 1h0m2s, which is longer than a LoadTest of namespace demo may have; at most 1h is accepted: use shorter or fewer steps, repetitions or pauses, or a shorter stored.maxWait of audits, which may pass before and after the steps.",
		},
		"the wait of an audit by default": {
			refused: with(long(51*time.Minute+1, 1), stored(0)), accepted: with(long(51*time.Minute, 1), stored(0)),
			want: "spec: the plan takes up to 1h0m0.000000001s, which is longer than a LoadTest of namespace demo may have; at most 1h is accepted: use shorter or fewer steps, repetitions or pauses, or a shorter stored.maxWait of audits, which may pass before and after the steps.",
		},
		"all of it": {
			refused: with(usersLadder(decimal("1"), 5001), body(8), long(2*time.Hour, 1), func(s *v1beta1.LoadTestSpec) { s.Steps = nil; s.Ladder.Duration = *duration(2 * time.Hour) }),
			want: "spec.ladder.users[0]: 5001 users are more than a LoadTest of namespace demo may have; at most 1000 are accepted. " +
				"spec.ladder.users[0]: 5001 users with ratePerUser 1 send 5001 requests per second together, which is more than a LoadTest of namespace demo may have; at most 500 are accepted, which is 500 users. " +
				"spec.ladder.users[0]: 5001 requests per second with bodies of 8 bytes are 39.07Ki a second, which is more than a LoadTest of namespace demo may have; at most 10Ki is accepted, which is 1280 users. " +
				"spec.ladder.users[0]: 5001 users need 3 workers, which is more than a LoadTest of namespace demo may have; at most 2 are accepted: use at most 5000 users, or set spec.parallelism. " +
				"spec: the plan takes up to 2h, which is longer than a LoadTest of namespace demo may have; at most 1h is accepted: use shorter or fewer steps, repetitions or pauses.",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			rules := limited()
			if tt.rules != nil {
				tt.rules(&rules.Limits)
			}
			_, refusal := plan.New(loadTest(spec(tt.refused)), rules)
			if refusal == nil || refusal.Reason != v1beta1.ReasonLimitExceeded || refusal.Message != tt.want {
				t.Errorf("got  %+v\nwant %s", refusal, tt.want)
			}
			same.As(t, "refusal without limits", "", refusalOf(loadTest(spec(tt.refused)), policy.Rules{}))
			if tt.accepted == nil {
				return
			}
			same.As(t, "refusal of what was said to be accepted", "", refusalOf(loadTest(spec(tt.accepted)), rules))
		})
	}
}

// The mix decides how many bytes a request has on average.
func TestBytesFollowFromTheMix(t *testing.T) {
	s := spec(with(body(1<<10), ratesLadder(v1beta1.NewDecimal("20"))))
	s.Requests = append(s.Requests, v1beta1.Request{Name: "home", Weight: ptr(int32(3))})
	same.As(t, "refusal of 20 requests a second, of which a quarter has 1 KiB", "", refusalOf(loadTest(s), limited()))
	for name, body := range map[string]string{"one journey": "journeys: [{name: a, steps: [{request: a}]}]", "a call": "requests: [{name: a, grpc: {method: a.B/C, message: LONG}}]"} {
		other := yamlSpec(t, strings.ReplaceAll(body, "LONG", `"`+strings.Repeat("x", 1<<10)+`"`))
		other.Ladder, other.Steps = nil, []v1beta1.Step{{Name: "20 users", Users: ptr(int32(20)), RatePerUser: decimal("1"), Duration: duration(time.Second)}}
		if len(other.Journeys) > 0 {
			other.Requests = []v1beta1.Request{{Name: "a"}, {Name: "b", Weight: ptr(int32(0)), HTTP: &v1beta1.HTTPRequest{Body: strings.Repeat("x", 1<<10)}}}
		}
		if _, refusal := plan.New(loadTest(other), limited()); refusal == nil || refusal.Reason != v1beta1.ReasonLimitExceeded {
			t.Errorf("%s: 20 requests a second of 1 KiB: %v", name, refusal)
		}
	}
	rare := yamlSpec(t, "requests: [{name: a, http: {}}, {name: b, weight: 0, http: {}}]")
	rare.Requests[1].HTTP.Body, rare.Steps[0].RatePerUser = strings.Repeat("x", 1<<20), decimal("20")
	same.As(t, "refusal of a body that is not sent", "", refusalOf(loadTest(rare), limited()))
	s.Requests[1].Weight = ptr(int32(0))
	if _, refusal := plan.New(loadTest(s), limited()); refusal == nil {
		t.Error("20 requests a second of 1 KiB are accepted; the limit is 10 KiB")
	}
}

// A search counts with all the probes that it may send, and all holds.
func TestSearchIsLimitedWithAllItsProbes(t *testing.T) {
	s := spec(search(v1beta1.Search{Users: &v1beta1.UsersRange{Min: 1, Max: 1000}}))
	s.Search.Duration, s.Search.Rest = metav1.Duration{Duration: 10 * time.Minute}, &metav1.Duration{}
	for hold, want := range map[time.Duration]string{0: "4h", 12 * time.Minute: "5h"} {
		s.Search.Hold = &metav1.Duration{Duration: hold}
		_, refusal := plan.New(loadTest(s), limited())
		if refusal == nil || !strings.HasPrefix(refusal.Message, "spec: the plan takes up to "+want+", which is longer") {
			t.Errorf("24 probes of 10 minutes, and 5 holds of %v: %v", hold, refusal)
		}
	}
}

func TestPriorityClassThatIsNone(t *testing.T) {
	p, err := policy.Load([]byte("priorityClasses: [{name: nightly, value: 1}, {name: gate, value: 2}, {name: other, value: 3, namespaces: [team-a]}]"))
	must.Succeed(t, err)
	for class, want := range map[string]string{
		"":       "",
		"gate":   "",
		"other":  "spec.queue.priorityClass: namespace demo has no class other; it has nightly, gate.",
		"urgent": "spec.queue.priorityClass: namespace demo has no class urgent; it has nightly, gate.",
	} {
		s := spec(usersLadder(nil, 1))
		s.Queue = &v1beta1.Queue{PriorityClass: class}
		same.As(t, "refusal of class "+class, want, refusalOf(loadTest(s), p.For("demo")))
		if got := refusalOf(loadTest(s), policy.Default().For("demo")); class != "" && got != "spec.queue.priorityClass: namespace demo has no class "+class+", nor any other; leave it out." {
			t.Errorf("class %q where there are none: %s", class, got)
		}
	}
}

// form has the first request send a form of a field with a value of so many bytes.
func form(n int) func(*v1beta1.LoadTestSpec) {
	return func(s *v1beta1.LoadTestSpec) {
		s.Requests[0].HTTP = &v1beta1.HTTPRequest{Method: "POST", Form: []v1beta1.FormField{{Name: "a", Value: ptr(strings.Repeat("x", n))}}}
	}
}

// follows has the first request follow redirects.
func follows(n int32) func(*v1beta1.LoadTestSpec) {
	return func(s *v1beta1.LoadTestSpec) { s.Requests[0].HTTP = &v1beta1.HTTPRequest{FollowRedirects: n} }
}

// A log says which of the requests a line is: their weights do not.
var _ = v1beta1.NewDecimal

// A log says which of the requests its lines are, whatever weights these have.
func TestBytesOfAReplayAreThoseOfItsLongestBody(t *testing.T) {
	for name, mix := range map[string]string{
		"a weight of one in 1001": "[{name: small, weight: 1000, http: {}}, {name: big, http: {method: POST, body: BODY}}]",
		"no weight":               "[{name: small, http: {}}, {name: big, weight: 0, http: {method: POST, body: BODY}}]",
	} {
		t.Run(name, func(t *testing.T) {
			lt := loadTest(spec(func(*v1beta1.LoadTestSpec) {}))
			lt.Spec = *yamlSpec(t, `{steps: [], requests: `+strings.ReplaceAll(mix, "BODY", strings.Repeat("x", 60000))+`, replay: {`+aLog+`,
  maxRate: 100, methods: [POST], routes: [{path: ^/never, request: small}, {request: big}]}}`)
			_, refusal := plan.New(lt, limited()) // of 10 KiB a second; the log has 6 MB a second
			if refusal == nil || refusal.Reason != v1beta1.ReasonLimitExceeded {
				t.Errorf("the replay of 100 bodies of 60 kB a second is accepted: %v", refusal)
			}
		})
	}
}

// A session is a user, with a connection until it ends.
// A session is a user who comes: those who are there at once, because they think, are users of the step.
func TestSessionsAtOnceAreWithinTheLimitOfUsers(t *testing.T) {
	p, err := policy.Load([]byte("limits: {namespaces: [{users: 10, rate: 100}]}"))
	must.Succeed(t, err)
	lt := loadTest(yamlSpec(t, `{journeys: [{name: j, steps: [{request: home}, {think: {min: 10m, max: 10m}}, {request: home}]}], steps: [{name: a, rate: 50, duration: 1h}]}`))
	made, refusal := plan.New(lt, p.For(lt.Namespace))
	if refusal == nil || refusal.Reason != v1beta1.ReasonLimitExceeded {
		t.Errorf("30000 users at once on %d workers are accepted, where 10 are allowed: %v", made.Workers, refusal)
	}
}
