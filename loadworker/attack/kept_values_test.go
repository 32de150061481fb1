package attack

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/pace"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// members is a target that lets in who has logged in: by the token in the query and by the cookie.
type members struct {
	mu      sync.Mutex
	tokens  map[string]string // of users, by their cookie
	logins  map[string]int    // by user
	came    []string          // since the last look
	wrong   []string
	refuses bool // answers each login without a token
}

func (m *members) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	user := r.URL.Query().Get("user")
	m.came = append(m.came, r.URL.Path)
	if r.URL.Path == "/login" {
		m.logins[user]++
		if m.refuses {
			_, _ = fmt.Fprint(w, "{}")
			return
		}
		sid, token := fmt.Sprintf("%s.%d", user, m.logins[user]), fmt.Sprintf("t%s.%d", user, m.logins[user])
		m.tokens[sid] = token
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: sid, Path: "/"})
		_, _ = fmt.Fprintf(w, `{"token": %q}`, token)
		return
	}
	sid, err := r.Cookie("sid")
	token := r.URL.Query().Get("token")
	switch {
	case err != nil || token == "" || !strings.HasPrefix(sid.Value, user+"."):
		m.wrong = append(m.wrong, fmt.Sprintf("user %s has the cookie %v and the token %q", user, sid, token))
	case m.tokens[sid.Value] != token:
		http.SetCookie(w, &http.Cookie{Name: "sid", Path: "/", MaxAge: -1})
		w.WriteHeader(http.StatusUnauthorized)
	}
}

// expire ends all sessions.
func (m *members) expire() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.tokens)
}

// took is how often each path came since it was asked last.
func (m *members) took() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	counts := map[string]int{}
	for _, path := range m.came {
		counts[path]++
	}
	m.came = nil
	return fmt.Sprintf("%d logins, %d carts", counts["/login"], counts["/cart"])
}

// membersJourney logs in once, and again when the target does not know the session any more.
func membersJourney() ([]source.Request, []source.Journey) {
	login, cart := get("/login?user=${user}"), get("/cart?user=${user}&token=${token}")
	login.Name, login.Weight, cart.Name, cart.Weight = "login", 0, "cart", 0
	return []source.Request{login, cart}, []source.Journey{{Name: "shop", Weight: 1, KeepValues: true, Steps: []source.JourneyStep{
		{Request: 0, Times: 1, If: "token == null || status == 401", Capture: map[string]string{"token": ".token"}},
		{Request: 1, Times: 2},
	}}}
}

func (d testDriver) members(t *testing.T) (*members, *Runner) {
	t.Helper()
	m := &members{tokens: map[string]string{}, logins: map[string]int{}}
	o := d.oracle(t, slow(m.ServeHTTP))
	requests, journeys := membersJourney()
	return m, d.runner(t, setup{url: o.URL, requests: requests, journeys: journeys})
}

// Users log in in the first step that they take part in. They keep their session in those that follow, whether
// or not they rest for some, and whatever ended the step; users who are added log in.
func TestUsersKeepTheirValuesFromStepToStep(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		m, r := d.members(t)
		burst := func(users, requests int64) StepShare {
			return usersStep(users, Burst{Requests: requests, Limit: time.Minute})
		}
		closed := usersStep(5, ClosedUsers{Duration: 200 * ms, Think: fixed(50 * ms)})
		closed.WarmUp = 200 * ms
		for _, tt := range []struct {
			step                        StepShare
			want                        string
			started, completed, leftOut int64
		}{
			{step: burst(2, 6), want: "2 logins, 10 carts", started: 6, leftOut: 4, completed: 4},
			{step: burst(4, 6), want: "2 logins, 22 carts", started: 12, leftOut: 10, completed: 10},
			{step: burst(1, 4), want: "0 logins, 4 carts", started: 2, leftOut: 2, completed: 2},
			{step: burst(4, 4), want: "0 logins, 16 carts", started: 8, leftOut: 8, completed: 8},
			// The fifth user logs in in the warm-up, which is in no result, and keeps that. User i sends its first
			// request after 10 ms x i, and one each 55 ms, for 400 ms: 8 + 8 + 7 + 7 + 7. In the second half of
			// that, each begins two journeys, of which the third and the fourth user complete one.
			{step: closed, want: "1 logins, 36 carts", started: 10, completed: 8, leftOut: 10},
			{step: burst(5, 2), want: "0 logins, 10 carts", started: 5, leftOut: 5, completed: 5},
		} {
			s := drive(t, r, tt.step)
			if got := m.took(); got != tt.want {
				t.Errorf("%+v: the target had %s, want %s", tt.step.Load, got, tt.want)
			}
			j, q := &s.Journeys[0], total(t, s)
			if q.Outcomes[measure.Success] != q.Sent || j.Failed > 0 {
				t.Errorf("%+v: %v, %d journeys failed", tt.step.Load, outcomes(q), j.Failed)
			}
			left := int64(0)
			if len(j.LeftOut) > 0 {
				left = j.LeftOut[0]
			}
			same.As(t, "started, completed, left out", []int64{tt.started, tt.completed, tt.leftOut}, []int64{j.Started, j.Completed, left})
		}
		same.As(t, "wrong", nil, m.wrong)
		same.As(t, "logins", map[string]int{"0": 1, "1": 1, "2": 1, "3": 1, "4": 1}, m.logins)
	})
}

// A session that the target ends costs each user one journey, after which the user logs in again.
func TestUsersLogInAgainWhenTheirSessionHasEnded(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		m, r := d.members(t)
		drive(t, r, usersStep(3, Burst{Requests: 3, Limit: time.Minute}))
		m.took()
		m.expire()
		s := drive(t, r, usersStep(3, Burst{Requests: 6, Limit: time.Minute}))
		// Each user: a cart that is refused, a login, two carts, and two of another journey.
		if got := m.took(); got != "3 logins, 15 carts" {
			t.Error(got)
		}
		j := &s.Journeys[0]
		same.As(t, "failed, completed", []int64{3, 6}, []int64{j.Failed, j.Completed})
		same.As(t, "wrong", nil, m.wrong)
	})
}

// A target that gives no token is asked for one in each journey, at the pace of the users: nothing else is sent.
func TestUsersWithoutAValueAskForItInEachJourney(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		m, r := d.members(t)
		m.refuses = true
		for range 2 {
			s := drive(t, r, usersStep(2, Burst{Requests: 5, Limit: time.Minute}))
			if got := m.took(); got != "10 logins, 0 carts" || s.Journeys[0].Failed != 10 {
				t.Errorf("%s, %d journeys failed", got, s.Journeys[0].Failed)
			}
		}
	})
}

// What is due of each request follows from what users have: in a step that is cut, users who have logged in are
// not said to be due to log in again.
func TestTheLoginIsNotDueOfUsersWhoHaveLoggedIn(t *testing.T) {
	for name, load := range map[string]Load{
		"each at a rate": PacedUsers{Rate: pace.Rate(20e6), Duration: time.Second},
		"on a ramp":      RampedUsers{From: 2, To: 2, Each: pace.Rate(10e6), Duration: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, d testDriver) {
				m, r := d.members(t)
				drive(t, r, usersStep(2, load))
				if got := m.took(); got != "2 logins, 18 carts" {
					t.Error(got)
				}
				s := drive(t, r, usersStep(2, load))
				if got := m.took(); got != "0 logins, 20 carts" {
					t.Error(got)
				}
				same.As(t, "due", []int64{0, 20}, dueOf(s))
			})
		})
	}
}

// Journeys that do not keep values begin each step, and each journey, without any.
func TestUsersWithoutKeptValuesBeginAnew(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		m := &members{tokens: map[string]string{}, logins: map[string]int{}}
		o := d.oracle(t, slow(m.ServeHTTP))
		requests, journeys := membersJourney()
		journeys[0].KeepValues, journeys[0].Steps[0].If = false, ""
		r := d.runner(t, setup{url: o.URL, requests: requests, journeys: journeys})
		for range 2 {
			drive(t, r, usersStep(2, Burst{Requests: 6, Limit: time.Minute}))
			if got := m.took(); got != "4 logins, 8 carts" {
				t.Error(got)
			}
		}
		if n := len(r.values); n != 0 {
			t.Errorf("the values of %d users are kept", n)
		}
		same.As(t, "wrong", nil, slices.Clone(m.wrong))
	})
}

// A refusal that is expected ends a journey, and leaves its code and its cookies with the user, as any other response
// that ends one does.
func TestAnExpectedRefusalLeavesItsCodeAndItsCookies(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		var came []string
		o := d.oracle(t, func(w http.ResponseWriter, r *http.Request) {
			came = append(came, r.URL.Path+" "+r.Header.Get("Cookie"))
			if r.URL.Path == "/cart" {
				http.SetCookie(w, &http.Cookie{Name: "wait", Value: "1", Path: "/"})
				w.WriteHeader(http.StatusTooManyRequests)
			}
		})
		again, cart := get("/again"), get("/cart")
		again.Name, again.Weight, cart.Name, cart.Weight = "again", 0, "cart", 0
		cart.Expect = source.Expectation{Status: []int32{200, 429}}
		r := d.runner(t, setup{url: o.URL, requests: []source.Request{again, cart}, journeys: []source.Journey{{Name: "shop", Weight: 1, KeepValues: true, Steps: []source.JourneyStep{
			{Request: 0, Times: 1, If: "status == 429"}, {Request: 1, Times: 1},
		}}}})
		drive(t, r, usersStep(1, Burst{Requests: 3, Limit: time.Minute}))
		same.As(t, "requests", []string{"/cart ", "/again wait=1", "/cart wait=1"}, came)
	})
}
