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
	"github.com/loadtest-dev/loadtest-operator/pace"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// market is a target with sessions: a login gives a token and a cookie, with both of which
// a user adds to the cart and buys. It counts what it did, and what was out of order.
type market struct {
	mu       sync.Mutex
	tokens   int
	carts    map[string]int    // what is in them, by token
	accounts map[string]string // by token
	bought   map[string]int    // purchases by account
	hits     map[string]int64  // by path
	wrong    []string

	fail  func(path, account string) int // a status; 0: it does not fail
	token func(token string) string      // what the response has instead of it; nil: it
}

func newMarket() *market {
	return &market{carts: map[string]int{}, accounts: map[string]string{}, bought: map[string]int{}, hits: map[string]int64{}}
}

func (m *market) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hits[r.URL.Path]++
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	account := r.URL.Query().Get("name") + m.accounts[token]
	if m.fail != nil {
		if status := m.fail(r.URL.Path, account); status != 0 {
			w.WriteHeader(status)
			return
		}
	}
	switch cookie, _ := r.Cookie("sid"); {
	case r.URL.Path == "/login":
		m.login(w, r, account)
		return
	case r.URL.Path == "/health":
		return
	case m.accounts[token] == "" || cookie == nil || cookie.Value != token:
		m.wrong = append(m.wrong, fmt.Sprintf("%s with token %q and cookie %v", r.URL.Path, token, cookie))
		w.WriteHeader(http.StatusUnauthorized)
		return
	case r.URL.Path == "/add":
		m.carts[token]++
	case m.carts[token] != 2:
		m.wrong = append(m.wrong, fmt.Sprintf("%d in the cart", m.carts[token]))
	default:
		m.bought[account]++
		delete(m.accounts, token)
	}
}

// login begins a session of an account. It must come without what is left of another.
func (m *market) login(w http.ResponseWriter, r *http.Request, account string) {
	if len(r.Cookies()) > 0 {
		m.wrong = append(m.wrong, "a login with a cookie")
	}
	m.tokens++
	token := fmt.Sprint("t", m.tokens)
	m.accounts[token] = account
	http.SetCookie(w, &http.Cookie{Name: "sid", Value: token, Path: "/"})
	if m.token != nil {
		token = m.token(token)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"session": map[string]string{"token": token}})
}

func (m *market) check(t *testing.T) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.wrong) > 0 {
		t.Errorf("%d requests were out of order, the first: %s", len(m.wrong), m.wrong[0])
	}
}

// buying is a mix of a journey of four requests over that many accounts.
func buying(t *testing.T, url string, accounts int) setup {
	t.Helper()
	table, err := source.NewTable("accounts", []string{"name"}, source.Uniform)
	must.Succeed(t, err)
	for i := range accounts {
		must.Succeed(t, table.Add([]string{fmt.Sprint("user", i)}))
	}
	bearer := []source.Header{{Name: "Authorization", Value: "Bearer ${token}"}}
	return setup{
		url: url, tables: []*source.Table{table},
		requests: []source.Request{
			{Name: "login", Method: "POST", Path: "/login?name=${name}"},
			{Name: "add", Method: "POST", Path: "/add", Headers: bearer},
			{Name: "buy", Method: "POST", Path: "/buy", Headers: bearer},
			{Name: "health", Method: "GET", Path: "/health"},
		},
		journeys: []source.Journey{{Name: "buy", Weight: 1, User: table, Steps: []source.JourneyStep{
			{Request: 0, Times: 1, Capture: map[string]string{"token": ".session.token"}}, {Request: 1, Times: 2}, {Request: 2, Times: 1},
		}}},
	}
}

// sent is how many of each request were sent.
func sent(s *measure.Measurement) (list []int64) {
	for i := range s.Requests {
		list = append(list, s.Requests[i].Sent)
	}
	return list
}

func dueOf(s *measure.Measurement) (list []int64) {
	for i := range s.Requests {
		list = append(list, s.Requests[i].Due)
	}
	return list
}

func wantJourney(t *testing.T, s *measure.Measurement, started, completed, failed int64) {
	t.Helper()
	if len(s.Journeys) != 1 {
		t.Fatalf("%d journeys are measured, want 1", len(s.Journeys))
	}
	j := &s.Journeys[0]
	if j.Started != started || j.Completed != completed || j.Failed != failed {
		t.Errorf("%d journeys started, %d completed, %d failed; want %d, %d, %d", j.Started, j.Completed, j.Failed, started, completed, failed)
	}
	if j.Time.Count() != j.Completed || j.Unfinished.Count() != j.UnderWay() {
		t.Errorf("%d times of those that were completed, %d of those that were under way, %d", j.Time.Count(), j.Unfinished.Count(), j.UnderWay())
	}
}

func TestUsersCarryJourneysOut(t *testing.T) {
	refuse := func(at, of string, status int) func(path, account string) int {
		return func(path, account string) int {
			if path == at && (of == "" || account == of) {
				return status
			}
			return 0
		}
	}
	burst := func(each int64) Load { return Burst{Requests: each, Limit: time.Minute} }
	wait := func(d time.Duration) source.JourneyStep { return source.JourneyStep{Think: fixed(d)} }
	for name, tt := range map[string]struct {
		users                      int64
		load                       Load
		warmUp                     time.Duration
		change                     func(*market, *setup)
		started, completed, failed int64
		sent                       string
		times                      string
		failedIn                   []int64 // by step
	}{
		"whole": {users: 10, load: burst(8), started: 20, completed: 20, sent: "[20 40 20 0]", times: "20ms"},
		// Of 6 requests of a round, 4 are of the journey.
		"beside another request": {users: 6, load: burst(12), change: func(_ *market, c *setup) { c.requests[3].Weight = 2 },
			started: 12, completed: 12, sent: "[12 24 12 24]", times: "20ms"},
		// The user whose second request fails begins a journey with every other request.
		"a request of one fails": {users: 10, load: burst(8), change: func(m *market, _ *setup) { m.fail = refuse("/add", "user3", http.StatusServiceUnavailable) },
			started: 22, completed: 18, failed: 4, failedIn: []int64{0, 4}, sent: "[22 40 18 0]", times: "20ms"},
		// An expected 429 is no failure of the request, and the journey is over all the same.
		"an expected refusal": {users: 1, load: burst(3), change: func(m *market, c *setup) {
			m.fail, c.requests[0].Expect.Status = refuse("/login", "", http.StatusTooManyRequests), []int32{200, 429}
		}, started: 3, failed: 3, failedIn: []int64{3}, sent: "[3 0 0 0]", times: "0s"},
		// The wait alone is longer than the limit: it is not waited. Of each user, the last journey has
		// no later request that is due.
		"a wait beyond the time limit": {users: 2, load: burst(3), change: func(_ *market, c *setup) {
			j := &c.journeys[0]
			j.TimeLimit, j.Steps = 10*time.Second, slices.Insert(j.Steps, 1, wait(time.Hour))
		}, started: 6, failed: 4, failedIn: []int64{0, 0, 4}, sent: "[6 0 0 0]", times: "0s"},
		// 4 requests of 5 ms and 3 waits take 920 ms: the fourth time, the first wait lasts to the end.
		"with waits": {users: 5, load: ClosedUsers{Duration: 3 * time.Second}, change: func(_ *market, c *setup) {
			j, w := &c.journeys[0], wait(300*ms)
			j.Steps = []source.JourneyStep{j.Steps[0], w, j.Steps[1], w, j.Steps[2], w}
		}, started: 20, completed: 15, sent: "[20 30 15 0]", times: "620ms"},
		// The journeys of the warm-up are not counted, but the requests that they send later are. Each
		// user sends from its place in the first think time on, every 50 ms, four a journey.
		"after a warm-up": {users: 5, load: ClosedUsers{Duration: 2 * time.Second, Think: fixed(45 * ms)}, warmUp: 110 * ms,
			started: 50, completed: 45, sent: "[50 100 50 0]", times: "155ms"},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, d testDriver) {
				m := newMarket()
				c := buying(t, d.oracle(t, slow(m.ServeHTTP)).URL, int(tt.users))
				if tt.change != nil {
					tt.change(m, &c)
				}
				step := usersStep(tt.users, tt.load)
				step.WarmUp = tt.warmUp
				s := drive(t, d.runner(t, c), step)
				m.check(t)
				wantJourney(t, s, tt.started, tt.completed, tt.failed)
				if !slices.Equal(s.Journeys[0].FailedIn, tt.failedIn) {
					t.Errorf("failed in steps %v, want %v", s.Journeys[0].FailedIn, tt.failedIn)
				}
				if got := fmt.Sprint(sent(s)); got != tt.sent || fmt.Sprint(dueOf(s)) != tt.sent || s.Due != total(t, s).Sent || !s.KnowsDue() {
					t.Errorf("sent %s, due %v, %d together; want %s", got, dueOf(s), s.Due, tt.sent)
				}
				// The waits before a response are not its lateness.
				if q := total(t, s); latencies(s.Journeys[0].Time) != tt.times || latencies(q.Response) != "5ms" || tt.started == tt.failed && q.Expected != tt.started {
					t.Errorf("journeys took %s, responses %s, %d as expected; want %s", latencies(s.Journeys[0].Time), latencies(q.Response), q.Expected, tt.times)
				}
				for account, n := range m.bought {
					if name == "whole" && n != 2 {
						t.Errorf("account %s has %d purchases, want the 2 of its user", account, n)
					}
				}
			})
		})
	}
}

// A user has its row whichever worker it is of: worker w of W has the rows w, w+W, …
func TestUsersHaveTheirRowsOnEveryWorker(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		m := newMarket()
		url := d.oracle(t, m.ServeHTTP).URL
		for worker := range int64(2) {
			s := buying(t, url, 3)
			rows, err := source.NewTable("accounts", []string{"name"}, source.Uniform)
			must.Succeed(t, err)
			for i := worker; i < 5; i += 2 {
				_ = rows.Add([]string{fmt.Sprint("user", i)})
			}
			s.tables[0], s.journeys[0].User, s.worker = rows, rows, int32(worker)
			share := pace.Share{First: worker, Stride: 2, Count: 3 - worker}
			drive(t, d.runner(t, s), StepShare{Share: share, Total: 5, Load: Burst{Requests: 4 * (1 + worker), Limit: time.Minute}})
		}
		m.check(t)
		if got := fmt.Sprint(m.bought); got != "map[user0:1 user1:2 user2:1 user3:2 user4:1]" {
			t.Errorf("purchases are %s", got)
		}
	})
}

func TestHostileValuesAreNotSent(t *testing.T) {
	const secret = "s3cret"
	for name, token := range map[string]string{
		"a line break": secret + "\r\nX-Evil: 1", "a request": "\r\n\r\nGET /evil HTTP/1.1\r\n\r\n" + secret, "too long": strings.Repeat(secret, 1000), "NUL": secret + "\x00",
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, d testDriver) {
				m := newMarket()
				m.token = func(string) string { return token }
				s := drive(t, d.runner(t, buying(t, d.oracle(t, m.ServeHTTP).URL, 2)), usersStep(2, Burst{Requests: 2, Limit: time.Minute}))
				wantJourney(t, s, 4, 0, 4)
				if got := fmt.Sprint(sent(s), s.Requests[0].Outcomes[measure.BadResponse], m.hits); got != "[4 0 0 0] 4 map[/login:4]" {
					t.Errorf("sent, bad responses and served: %s", got)
				}
				if text := errorsOf(s)[measure.BadResponse]; strings.Contains(text, secret) || !strings.Contains(text, "capture.token") {
					t.Errorf("the sample is %q", text)
				}
			})
		})
	}
}

// Quotes in a captured value stay in the body as they are: a body is framed by its length.
func TestQuotesInACapturedValueStayInTheBody(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		var mu sync.Mutex
		var bodies []string
		o := d.oracle(t, func(w http.ResponseWriter, r *http.Request) {
			raw := make([]byte, r.ContentLength)
			_, _ = r.Body.Read(raw)
			mu.Lock()
			defer mu.Unlock()
			bodies = append(bodies, string(raw))
			_, _ = w.Write([]byte(`{"id":"a\"b\r\nc"}`))
		})
		s := drive(t, d.runner(t, setup{
			url:      o.URL,
			requests: []source.Request{{Name: "a", Method: "GET", Path: "/a"}, {Name: "b", Method: "POST", Path: "/b", Body: `{"id":"${id}"}`}},
			journeys: []source.Journey{{Name: "j", Weight: 1, Steps: []source.JourneyStep{{Request: 0, Times: 1, Capture: map[string]string{"id": ".id"}}, {Request: 1, Times: 1}}}},
		}), usersStep(1, Burst{Requests: 2, Limit: time.Minute}))
		wantJourney(t, s, 1, 1, 0)
		if len(bodies) != 2 || bodies[1] != "{\"id\":\"a\"b\r\nc\"}" {
			t.Errorf("the bodies are %q", bodies)
		}
	})
}

// slow is a handler that takes the latency of other servers of virtual time.
func slow(handle http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		<-time.After(latency)
		handle(w, r)
	}
}

// A paced user that waits for a slow response misses its turns: they are due all the same, and
// they are the requests that it would have sent.
func TestUnsentRequestsOfJourneysAreKnownByKind(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		const length = 4 * time.Second
		o := d.oracle(t, func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/b" {
				<-time.After(length)
			}
		})
		c := setup{
			url:      o.URL,
			requests: []source.Request{{Name: "a", Method: "GET", Path: "/a"}, {Name: "b", Method: "GET", Path: "/b"}, {Name: "c", Method: "GET", Path: "/c"}},
			journeys: []source.Journey{{Name: "j", Weight: 1, Steps: []source.JourneyStep{{Request: 0, Times: 1}, {Request: 1, Times: 1}, {Request: 2, Times: 1}}}},
		}
		// Each of the 4 users has 10 turns, and the second never ends in the window.
		x := d.runner(t, c).Start(usersStep(4, PacedUsers{Rate: 10e6, Duration: length}), time.Now())
		<-time.After(length / 2)
		if running := snapshot(t, x); running.Due == 0 || running.Requests[0].Due > 0 {
			t.Errorf("of %d that are due, a running step knows which: %v", running.Due, dueOf(running))
		}
		s := finish(t, x)
		if got := fmt.Sprint(sent(s), dueOf(s), s.Due, s.Unsent); got != "[4 4 0] [16 12 12] 40 32" {
			t.Errorf("sent, due, due together and unsent: %s", got)
		}
		wantJourney(t, s, 4, 0, 0)
		if least := s.Journeys[0].Unfinished.Min(); least < 100*ms {
			t.Errorf("a journey is left after %v", least)
		}
	})
}

// Users who come one after another have a schedule each, too.
func TestJourneysOfARampOfUsers(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, d testDriver) {
		m := newMarket()
		ramp := RampedUsers{From: 2, To: 10, Duration: 400 * ms, Each: 50e6}
		x := d.runner(t, buying(t, d.oracle(t, slow(m.ServeHTTP)).URL, 10)).Start(usersStep(10, ramp), time.Now())
		s := finish(t, x)
		m.check(t)
		if want := x.schedule.(*rampedUsers).allTurns(ramp.Duration); s.Due != want || total(t, s).Sent != want || !s.KnowsDue() || want < 100 {
			t.Errorf("due %d, of the requests %v, sent %d; want %d together", s.Due, dueOf(s), total(t, s).Sent, want)
		}
		wantJourney(t, s, s.Requests[0].Sent, s.Requests[2].Sent, 0)
	})
}

// What is in flight when a step is cut, or has waited for less than its timeout at its end, is
// undecided, and its journey under way, unless it has broken its time limit: it has failed, whatever comes.
func TestAJourneyWhoseRequestIsUndecidedIsUnderWay(t *testing.T) {
	for name, tt := range map[string]struct {
		load          Load
		cut           time.Duration
		limit, failed int64 // the limit in seconds
	}{
		"a cut":                   {ClosedUsers{Duration: time.Minute}, 2 * time.Second, 3, 0},
		"a cut after the limit":   {ClosedUsers{Duration: time.Minute}, 2 * time.Second, 1, 3},
		"the burst's end":         {Burst{Requests: 1, Limit: 3 * time.Second}, time.Hour, 4, 0},
		"it ends after the limit": {Burst{Requests: 1, Limit: 3 * time.Second}, time.Hour, 2, 3},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, d testDriver) {
				handle, _ := hold(t)
				c := buying(t, d.oracle(t, handle).URL, 3)
				c.journeys[0].TimeLimit = time.Duration(tt.limit) * time.Second
				x := d.runner(t, c).Start(usersStep(3, tt.load), time.Now())
				defer time.AfterFunc(tt.cut, x.Cut).Stop()
				wantJourney(t, finish(t, x), 3, 0, tt.failed)
			})
		})
	}
}
