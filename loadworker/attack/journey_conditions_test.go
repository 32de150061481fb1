package attack

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// till is a target whose payments are made after a number of questions. It counts what it is asked,
// and notes what no condition permits.
type till struct {
	mu     sync.Mutex
	tokens int
	after  func(token int) int // how many questions it takes; 0: never
	asked  map[int]int         // by token
	hits   map[string]int64
	wrong  []string
}

// isGold says whether a token is of the tier that has the lounge: each third.
func isGold(token int) bool { return token%3 == 0 }

func (m *till) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hits[r.URL.Path]++
	token := 0
	_, _ = fmt.Sscan(r.URL.Query().Get("token"), &token)
	reply := map[string]any{}
	switch r.URL.Path {
	case "/token":
		m.tokens++
		reply["token"], reply["tier"] = m.tokens, "silver"
		if isGold(m.tokens) {
			reply["tier"] = "gold"
		}
	case "/state":
		m.asked[token]++
		paid := m.asked[token] == m.after(token)
		if reply["paid"] = paid; m.asked[token] > m.after(token) && m.after(token) > 0 {
			m.wrong = append(m.wrong, fmt.Sprintf("token %d asks again after it was paid", token))
		}
	case "/lounge":
		if reply["seat"] = token; !isGold(token) {
			m.wrong = append(m.wrong, fmt.Sprintf("token %d in the lounge", token))
		}
		if m.asked[token] != m.after(token) {
			m.wrong = append(m.wrong, fmt.Sprintf("token %d in the lounge after %d questions", token, m.asked[token]))
		}
	}
	_ = json.NewEncoder(w).Encode(reply)
}

// paying is the journey of a purchase: the token, the payment, its state until it is paid, and the lounge of some.
func paying(atMost int, every time.Duration) []source.Journey {
	return []source.Journey{{Name: "buy", Weight: 1, Steps: []source.JourneyStep{
		{Request: 0, Times: 1, Capture: map[string]string{"token": ".token", "tier": ".tier"}},
		{Request: 1, Times: 1, Capture: map[string]string{"paid": ".paid"}, Until: "paid == true", AtMost: atMost, Every: every},
		{Request: 2, Times: 1, If: "tier == 'gold'", Capture: map[string]string{"seat": ".seat"}},
		{Think: fixed(20 * ms), If: "seat != null && token > 0"},
		{Request: 3, Times: 1},
	}}}
}

var tillPaths = []string{"/token", "/state", "/lounge", "/thanks"}

func tillRequests() (list []source.Request) {
	for _, path := range tillPaths {
		r := get(path + "?token=${token}")
		if path == "/token" {
			r = get(path)
		}
		r.Name, r.Weight = path, 0
		list = append(list, r)
	}
	return list
}

// The target's own counts are those of the report, by request and by journey: under each load, a request is
// due if its condition holds, and no other.
func TestConditionsDecideWhatIsDue(t *testing.T) {
	third := func(int) int { return 3 }
	arrivals := arrivalsStep(50e6, 2*time.Second)
	for name, tt := range map[string]struct {
		step                       StepShare
		after                      func(token int) int
		atMost                     int
		every                      time.Duration
		started, completed, failed int64
		sent                       string // "": what the target had
		failedIn, leftOut          []int64
		because                    string
	}{
		// Each of 4 users sends 60 requests: 1 + 3 + 1 a journey, and one more in the lounge.
		"once each": {step: usersStep(4, Burst{Requests: 60, Limit: time.Minute}), after: third, atMost: 3},
		// A journey takes 5 ms for each of 5 requests and 80 ms between the questions; each third 5 ms and 20 ms more.
		"closed": {step: usersStep(3, ClosedUsers{Duration: 2 * time.Second}), after: third, atMost: 10, every: 40 * ms},
		// Sessions come every 20 ms, and the last is over 105 ms before the end, or is cut.
		"at a rate": {step: arrivals, after: third, atMost: 10, every: 40 * ms, started: 100},
		"at once":   {step: arrivals, after: func(int) int { return 1 }, atMost: 1, started: 100},
		// With no wait, 10 questions are 50 ms.
		"never": {step: usersStep(2, Burst{Requests: 22, Limit: time.Minute}), after: func(int) int { return 0 }, atMost: 10,
			started: 4, failed: 4, sent: "[4 40 0 0]", failedIn: []int64{0, 4}, because: "until never held in 10 tries"},
		"one of four never": {step: usersStep(1, Burst{Requests: 18, Limit: time.Minute}), after: func(token int) int {
			if token == 2 {
				return 0
			}
			return 2
		}, atMost: 4, started: 4, completed: 3, failed: 1, sent: "[4 10 1 3]", failedIn: []int64{0, 1}, because: "until never held in 4 tries", leftOut: []int64{0, 0, 2, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, d testDriver) {
				m := &till{after: tt.after, asked: map[int]int{}, hits: map[string]int64{}}
				o := d.oracle(t, slow(m.ServeHTTP))
				s := drive(t, d.runner(t, setup{url: o.URL, requests: tillRequests(), journeys: paying(tt.atMost, tt.every)}), tt.step)
				j := &s.Journeys[0]
				had := make([]int64, len(tillPaths))
				for i, path := range tillPaths {
					had[i] = m.hits[path]
				}
				if got := fmt.Sprint(sent(s)); len(m.wrong) > 0 || got != fmt.Sprint(had) || got != fmt.Sprint(dueOf(s)) || tt.sent != "" && got != tt.sent || s.Due != total(t, s).Sent {
					t.Errorf("sent %v, due %v, %d together; the target had %v, and says %q; want %s", got, dueOf(s), s.Due, had, m.wrong, tt.sent)
				}
				if j.Started != int64(m.tokens) || j.Completed != had[3] || j.Failed != tt.failed || tt.started > 0 && j.Started != tt.started || tt.completed > 0 && j.Completed != tt.completed {
					t.Errorf("%d started, %d completed, %d failed; the target gave %d tokens and %d thanks", j.Started, j.Completed, j.Failed, m.tokens, had[3])
				}
				if !slices.Equal(j.FailedIn, tt.failedIn) || !slices.Equal(j.ByCondition, tt.failedIn) || tt.because != "" && (len(j.Because) != 2 || j.Because[1] != tt.because) {
					t.Errorf("failed in %v, by conditions in %v, because of %q; want %v, %s", j.FailedIn, j.ByCondition, j.Because, tt.failedIn, tt.because)
				}
				// Of the journeys that came to the lounge, each did once, or left it out.
				if tt.leftOut != nil && !slices.Equal(j.LeftOut, tt.leftOut) || len(j.LeftOut) != 0 && (j.LeftOut[2] != j.LeftOut[3] || len(j.LeftOut) > 4 || j.LeftOut[2] < had[3]-had[2]) {
					t.Errorf("left out %v, want %v; %d were in the lounge, %d got thanks", j.LeftOut, tt.leftOut, had[2], had[3])
				}
				if tt.every > 0 && j.Time.Count() > 0 && (j.Time.Min()-105*ms).Abs() > ms {
					t.Errorf("the shortest took %v, want 105ms: five responses, and two waits", j.Time.Min())
				}
			})
		})
	}
}

// Users whose requests are due by a schedule send as many as it says, whatever conditions decide.
func TestConditionsOfPacedUsers(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		m := &till{after: func(token int) int { return token%4 + 1 }, asked: map[int]int{}, hits: map[string]int64{}}
		o := d.oracle(t, slow(m.ServeHTTP))
		journeys := paying(10, 0)
		journeys[0].Steps = slices.Delete(journeys[0].Steps, 3, 4)
		s := drive(t, d.runner(t, setup{url: o.URL, requests: tillRequests(), journeys: journeys}), usersStep(5, PacedUsers{Rate: 100e6, Duration: 4 * time.Second}))
		if got := total(t, s).Sent; got != 400 || s.Due != 400 || len(m.wrong) > 0 {
			t.Errorf("%d sent of %d due, want 400 of 400; the target says %q", got, s.Due, m.wrong)
		}
		for i, path := range tillPaths {
			if r := &s.Requests[i]; r.Sent != m.hits[path] || r.Due != r.Sent {
				t.Errorf("%s: %d sent, %d due, the target had %d", path, r.Sent, r.Due, m.hits[path])
			}
		}
		if j := &s.Journeys[0]; j.Completed != m.hits["/thanks"] || j.Failed != 0 || j.LeftOut[2] < j.Completed/2 {
			t.Errorf("%d completed, %d failed, %v left out", j.Completed, j.Failed, j.LeftOut)
		}
	})
}

// A condition without a result ends its journey, in the step that has it; so does a value that is missing
// since its step was left out. Neither is a failure of a request.
func TestConditionsWithoutAResultEndTheirJourney(t *testing.T) {
	for name, tt := range map[string]struct {
		edit    func([]source.JourneyStep)
		step    int
		because string
		sent    string
	}{
		"until": {edit: func(s []source.JourneyStep) { s[1].Until = "paid > 3" }, step: 1, sent: "[2 2 0 0]",
			because: "until: an operator does not take the types of these values (paid is true or false)"},
		"if": {edit: func(s []source.JourneyStep) { s[2].If = "1 / (token - token) > 0" }, step: 2, sent: "[2 2 0 0]",
			because: "if: a number is divided by zero (token is a number)"},
		"if of a wait": {edit: func(s []source.JourneyStep) { s[3].If = "token == 'x' || token.contains('x')" }, step: 3, sent: "[2 2 0 0]",
			because: "if: an operator does not take the types of these values (token is a number)"},
		"a value of a step that was left out": {edit: func(s []source.JourneyStep) {
			s[2].If, s[4].If, s[4].Request = "false", "true", 4
		}, step: 4, sent: "[2 2 0 0 0]", because: "the request has ${seat}, whose step was left out"},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, d testDriver) {
				m := &till{after: func(int) int { return 1 }, asked: map[int]int{}, hits: map[string]int64{}}
				o := d.oracle(t, slow(m.ServeHTTP))
				c := setup{url: o.URL, requests: tillRequests(), journeys: paying(1, 0)}
				if strings.HasPrefix(name, "a value") {
					seat := get("/thanks?token=${token}&seat=${seat}")
					seat.Weight = 0
					c.requests = append(c.requests, seat)
				}
				tt.edit(c.journeys[0].Steps)
				s := drive(t, d.runner(t, c), usersStep(1, Burst{Requests: 4, Limit: time.Minute}))
				j := &s.Journeys[0]
				if fmt.Sprint(sent(s)) != tt.sent || j.Failed != 2 || len(j.FailedIn) != tt.step+1 || j.FailedIn[tt.step] != 2 || j.ByCondition[tt.step] != 2 || j.Because[tt.step] != tt.because {
					t.Errorf("sent %v, %d failed, in %v, %v by conditions: %q", sent(s), j.Failed, j.FailedIn, j.ByCondition, j.Because)
				}
				if q := total(t, s); q.Expected != 4 || q.Outcomes[measure.Success] != 4 {
					t.Errorf("%d of 4 responses were expected: %v", q.Expected, q.Outcomes)
				}
			})
		})
	}
}

// The next journey of a user knows nothing of the one before.
func TestConditionsForgetTheJourneyBefore(t *testing.T) {
	m := &till{after: func(int) int { return 1 }, asked: map[int]int{}, hits: map[string]int64{}}
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		*m = till{after: m.after, asked: map[int]int{}, hits: map[string]int64{}, tokens: 2}
		o := d.oracle(t, slow(m.ServeHTTP))
		// Token 3 has a seat, and 4 has none: it has no wait of 20 ms, and sends its thanks 5 ms after its state.
		s := drive(t, d.runner(t, setup{url: o.URL, requests: tillRequests(), journeys: paying(1, 0)}), usersStep(1, Burst{Requests: 7, Limit: time.Minute}))
		if got := s.Journeys[0]; got.Completed != 2 || !slices.Equal(got.LeftOut, []int64{0, 0, 1, 1}) || latencies(got.Time) == "" {
			t.Errorf("%d completed, left out %v", got.Completed, got.LeftOut)
		}
		if short, long := s.Journeys[0].Time.Min(), s.Journeys[0].Time.Max(); (short-15*ms).Abs() > ms || (long-40*ms).Abs() > ms {
			t.Errorf("took %v and %v, want 15ms and 40ms", short, long)
		}
	})
}

// A journey that begins with a repeat has begun once, however often its first request is sent.
func TestAJourneyMayBeginWithARepeat(t *testing.T) {
	for name, step := range map[string]StepShare{
		"users": usersStep(1, Burst{Requests: 16, Limit: time.Minute}), "sessions": arrivalsStep(2e6, 2*time.Second),
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, d testDriver) {
				var mu sync.Mutex
				asked := 0
				o := d.oracle(t, slow(func(w http.ResponseWriter, _ *http.Request) {
					mu.Lock()
					defer mu.Unlock()
					asked++
					_ = json.NewEncoder(w).Encode(map[string]bool{"ready": asked%4 == 0})
				}))
				r := get("/")
				r.Weight = 0
				journeys := []source.Journey{{Name: "wait", Weight: 1, TimeLimit: time.Minute, Steps: []source.JourneyStep{
					{Request: 0, Times: 1, Capture: map[string]string{"ready": ".ready"}, Until: "ready", AtMost: 4, Every: 10 * ms},
				}}}
				s := drive(t, d.runner(t, setup{url: o.URL, requests: []source.Request{r}, journeys: journeys}), step)
				if j := &s.Journeys[0]; j.Started != 4 || j.Completed != 4 || s.Requests[0].Sent != 16 || s.Requests[0].Due != 16 || asked != 16 || latencies(j.Time) != "50ms" {
					t.Errorf("%d started, %d completed in %s, %d requests of %d due, the target had %d", j.Started, j.Completed, latencies(j.Time), s.Requests[0].Sent, s.Requests[0].Due, asked)
				}
			})
		})
	}
}

// The code of the response decides, too: each answer is an expected one.
func TestConditionsHaveTheCodeOfTheResponse(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		var mu sync.Mutex
		asked := 0
		o := d.oracle(t, slow(func(w http.ResponseWriter, _ *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			if asked++; asked%5 != 0 {
				w.WriteHeader(http.StatusAccepted)
			}
		}))
		r := get("/")
		r.Weight, r.Expect.Status = 0, []int32{200, 202}
		journeys := []source.Journey{{Name: "wait", Weight: 1, Steps: []source.JourneyStep{
			{Request: 0, Times: 1, Until: "status == 200", AtMost: 9}, {Request: 0, Times: 2, If: "status == 202"}, {Think: fixed(0)},
		}}}
		s := drive(t, d.runner(t, setup{url: o.URL, requests: []source.Request{r}, journeys: journeys}), usersStep(1, Burst{Requests: 10, Limit: time.Minute}))
		if j := &s.Journeys[0]; j.Completed != 2 || !slices.Equal(j.LeftOut, []int64{0, 2}) || s.Requests[0].Expected != 10 {
			t.Errorf("%d completed, left out %v, %d expected", j.Completed, j.LeftOut, s.Requests[0].Expected)
		}
	})
}
