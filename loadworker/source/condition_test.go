package source

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/pace"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// lounge is a mix of a journey whose later steps have conditions.
func lounge(accounts *Table) Config {
	return Config{
		Tables: []*Table{accounts},
		Requests: []Request{
			{Name: "login", Method: "POST", Path: "/login?name=${name}"},
			{Name: "state", Method: "GET", Path: "/state/${token}"},
			{Name: "lounge", Method: "GET", Path: "/lounge"},
			{Name: "seat", Method: "GET", Path: "/seat/${seat}"},
			{Name: "bye", Method: "GET", Path: "/bye"},
		},
		Journeys: []Journey{{Name: "visit", Weight: 1, User: accounts, Steps: []JourneyStep{
			{Request: 0, Times: 1, Capture: map[string]string{"token": ".token"}},
			{Request: 1, Times: 1, Capture: map[string]string{"order": ".order"}, Until: "has(order.paid) && order.paid", AtMost: 3, Every: time.Second},
			{Think: pace.Think{Shortest: time.Minute, Longest: time.Minute}, If: "tier == 'gold'"},
			{Request: 2, Times: 2, If: "tier == 'gold'", CaptureFrom: []Capture{{Name: "seat", Header: "X-Seat"}}},
			{Request: 3, Times: 1, If: "seat != null"},
			{Request: 4, Times: 1},
		}}},
	}
}

// follow sends requests until a journey ends, and describes each, and what is between.
func follow(t *testing.T, w *Walk, responses ...string) (lines []string) {
	t.Helper()
	var b Buffer
	for i := 0; ; i++ {
		w.Render(&b, Vars{})
		line := string(b.Request.Path)
		body := "{}"
		if i < len(responses) {
			body = responses[i]
		}
		r := answer(body)
		r.Fields = []byte("X-Seat:7\n")
		must.Succeed(t, w.Answer(r))
		m := w.Next(true, pace.NewDraws(1, 0))
		if m.Wait > 0 {
			line += fmt.Sprint(", waits ", m.Wait)
		}
		if len(m.LeftOut) > 0 {
			line += fmt.Sprint(", leaves out ", m.LeftOut)
		}
		lines = append(lines, line)
		if m.Over {
			return append(lines, fmt.Sprintf("%t %d %s", m.Failed, m.Step, m.Because))
		}
	}
}

func TestWalkGoesByConditions(t *testing.T) {
	table := accounts(t, []string{"name", "tier"}, "ann gold", "bob silver")
	s := mustNew(t, lounge(table))
	for name, tt := range map[string]struct {
		user      int64
		responses []string
		want      string
	}{
		"with each step": {0, []string{`{"token": 1}`, `{"order": {}}`, `{"order": {"paid": true}}`},
			"/login?name=ann; /state/1, waits 1s; /state/1, waits 1m0s; /lounge; /lounge; /seat/7; /bye; false 5 "},
		"without some": {1, []string{`{"token": 1}`, `{"order": {"paid": true}}`}, "/login?name=bob; /state/1, leaves out [2 3 4]; /bye; false 5 "},
		"never paid": {1, []string{`{"token": 1}`, `{"order": {}}`, `{"order": {"paid": false}}`, `{"order": {}}`},
			"/login?name=bob; /state/1, waits 1s; /state/1, waits 1s; /state/1; true 1 until never held in 3 tries"},
		"without a result": {1, []string{`{"token": 1}`, `{"order": {"paid": "yes"}}`},
			"/login?name=bob; /state/1; true 1 until: an operator does not take the types of these values (order is an object or a list)"},
	} {
		w := s.NewWalk(tt.user, tt.user, 2)
		for range 2 { // a second journey has nothing of the first
			if got := strings.Join(follow(t, &w, tt.responses...), "; "); got != tt.want {
				t.Errorf("%s:\n%s\nwant\n%s", name, got, tt.want)
			}
		}
		w.Begin(1-tt.user, 1-tt.user)
		follow(t, &w, `{"token": 1}`, `{"order": {"paid": true}}`)
	}
}

// A session begins with none of the values, and none of the tries, of the one before.
func TestSessionsBeginWithoutValues(t *testing.T) {
	s := mustNew(t, lounge(accounts(t, []string{"name", "tier"}, "ann gold", "bob silver")))
	w := s.NewWalk(0, 0, 1)
	var b Buffer
	for _, body := range []string{`{"token": 1}`, `{"order": {}}`, `{"order": {}}`} {
		w.Render(&b, Vars{})
		must.Succeed(t, w.Answer(answer(body)))
		w.Next(true, pace.NewDraws(1, 0))
	}
	w.Begin(1, 1)
	got := strings.Join(follow(t, &w, `{"token": 2}`, `{"order": {}}`, `{"order": {}}`, `{"order": {"paid": true}}`), "; ")
	if want := "/login?name=bob; /state/2, waits 1s; /state/2, waits 1s; /state/2, leaves out [2 3 4]; /bye; false 5 "; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What is ahead is counted as if each condition held, and each repeat sent one request.
func TestRequestsAheadOfConditions(t *testing.T) {
	s := mustNew(t, lounge(accounts(t, []string{"name", "tier"}, "ann gold")))
	w := s.NewWalk(0, 0, 1)
	counts := make([]int64, 5)
	w.CountAhead(8, counts)
	if got, want := fmt.Sprint(counts), "[2 2 2 1 1]"; got != want {
		t.Errorf("%s are ahead, want %s", got, want)
	}
}

func TestConditionsThatAreRefused(t *testing.T) {
	for want, edit := range map[string]func(*Config){
		"steps[0]: if: must not be set for the first request, nor before it, without keepValues":                                     func(c *Config) { c.Journeys[0].Steps[0].If = "true" },
		"steps[1]: repeat.until: is no condition at character ":                                                                      func(c *Config) { c.Journeys[0].Steps[1].Until = "order ==" },
		"steps[1]: repeat: atMost must be at least 1, is 0":                                                                          func(c *Config) { c.Journeys[0].Steps[1].AtMost = 0 },
		"steps[1]: repeat.until: seat is captured by no step of the journey":                                                         func(c *Config) { c.Journeys[0].Steps[1].Until = "seat == '7'" },
		"steps[2]: if: tirr is not defined here; known are order, status, token, the columns of user.data":                           func(c *Config) { c.Journeys[0].Steps[2].If = "tirr == 'gold'" },
		"steps[2]: if: tokn is not defined here; did you mean token?":                                                                func(c *Config) { c.Journeys[0].Steps[2].If = "tokn == 1" },
		"steps[2]: if: name is a column of accounts, of which each request takes a row of its own; a condition has":                  func(c *Config) { c.Journeys[0].User, c.Journeys[0].Steps[2].If = nil, "name == 'ann'" },
		"steps[4]: request \"seat\" has ${seat}, which only a step with if captures: give this step an if too, such as seat != null": func(c *Config) { c.Journeys[0].Steps[4].If = "" },
		"steps[2]: if: has types at character 6 that > does not take: (string, int)":                                                 func(c *Config) { c.Journeys[0].Steps[2].If = "tier > 3" },
	} {
		c := lounge(accounts(t, []string{"name", "tier"}, "ann gold"))
		edit(&c)
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

// A step without conditions costs what it did before there were any: nothing is allocated.
func TestStepsWithoutConditionsAllocateNothing(t *testing.T) {
	s := mustNew(t, Config{
		Requests: []Request{{Name: "a", Method: "GET", Path: "/"}, {Name: "b", Method: "GET", Path: "/"}},
		Journeys: []Journey{{Name: "j", Weight: 1, Steps: []JourneyStep{{Request: 0, Times: 2}, {Request: 1, Times: 1}}}},
	})
	w := s.NewWalk(0, 0, 1)
	draws := pace.NewDraws(1, 0)
	if n := testing.AllocsPerRun(100, func() { w.Next(true, draws) }); n != 0 {
		t.Errorf("%v allocations for a request", n)
	}
}

// BenchmarkConditions is what a request of a journey costs the generator beside sending it, without a condition and
// with one: the response is taken, three values are captured, and the next request is chosen and rendered.
func BenchmarkConditions(b *testing.B) {
	for _, condition := range []string{"", "paid", "paid == true", "status == 200", "tier == 'gold'", "total > 10 && tier == 'gold' && status in [200, 202]", "has(order.paid) && order.paid"} {
		b.Run("until "+cmp.Or(condition, "none"), func(b *testing.B) {
			table, err := NewTable("accounts", []string{"tier"}, Uniform)
			must.Succeed(b, err)
			must.Succeed(b, table.Add([]string{"gold"}))
			step := JourneyStep{Request: 0, Times: 1, Capture: map[string]string{"paid": ".paid", "total": ".total", "order": ".order"}}
			if condition != "" {
				step.Until, step.AtMost = "!("+condition+")", math.MaxInt
			}
			s, err := New(Config{
				Tables: []*Table{table}, Requests: []Request{{Name: "a", Method: "GET", Path: "/"}},
				Journeys: []Journey{{Name: "j", Weight: 1, User: table, Steps: []JourneyStep{step}}},
			})
			must.Succeed(b, err)
			w, buffer, draws := s.NewWalk(0, 0, 1), Buffer{}, pace.NewDraws(1, 0)
			response := answer(`{"paid": true, "total": 12.5, "order": {"id": 7, "paid": true}}`)
			b.ReportAllocs()
			for b.Loop() {
				w.Render(&buffer, Vars{})
				must.Succeed(b, w.Answer(response))
				w.Next(true, draws)
			}
		})
	}
}

// member is a mix of two journeys of users who log in once.
func member() Config {
	login := JourneyStep{Request: 0, Times: 1, If: "token == null || status == 401", Capture: map[string]string{"token": ".token"}}
	return Config{
		Requests: []Request{
			{Name: "login", Method: "POST", Path: "/login"},
			{Name: "cart", Method: "GET", Path: "/cart/${token}"},
			{Name: "seat", Method: "GET", Path: "/seat/${seat}"},
		},
		Journeys: []Journey{
			{Name: "look", Weight: 1, KeepValues: true, Steps: []JourneyStep{login,
				{Think: pace.Think{Shortest: time.Minute, Longest: time.Minute}, If: "status != 401"}, {Request: 1, Times: 1}}},
			{Name: "sit", Weight: 1, KeepValues: true, Steps: []JourneyStep{login, {Request: 2, Times: 1, If: "seat != null"},
				{Request: 1, Times: 1, Capture: map[string]string{"seat": ".seat"}}}},
		},
	}
}

// A user keeps values and cookies from journey to journey, of whatever name they are, and in another walk: a step is
// carried out again when its condition says so.
func TestWalkKeepsValues(t *testing.T) {
	s := mustNew(t, member())
	w := s.NewWalk(0, 0, 1)
	draws := pace.NewDraws(1, 0)
	got := []string{fmt.Sprint(w.First(draws))}
	send := func(r *transport.Response) {
		var b Buffer
		w.Render(&b, Vars{})
		line := fmt.Sprintf("%s %s", b.Request.Path, b.Request.Headers)
		expected := r.Status == 200
		if expected {
			must.Succeed(t, w.Answer(r))
		} else {
			w.Refuse(r)
		}
		m := w.Next(expected, draws)
		if line += fmt.Sprint(", waits ", m.Wait); m.Over {
			line += fmt.Sprint(", over; leaves out ", w.LeftOut())
		}
		got = append(got, line)
	}
	logged := answer(`{"token": "a"}`)
	logged.SetCookies = []byte("sid=1")
	send(logged)
	send(answer(`{}`))
	send(answer(`{"seat": 7}`))
	send(answer(`{}`))
	send(answer(`{}`)) // of sit, now with a seat
	next := s.NewWalk(0, 0, 1)
	next.Keep(w.Values)
	w = next
	got = append(got, fmt.Sprint("in another step waits ", w.First(draws), ", leaves out ", w.LeftOut()))
	send(&transport.Response{Status: 401, SetCookies: []byte("sid=; Path=/; Max-Age=0")})
	send(answer(`{"token": "b"}`))
	want := []string{
		"0s",
		"/login [], waits 1m0s",
		"/cart/a [{Cookie sid=1}], waits 0s, over; leaves out [0 1]",
		"/cart/a [{Cookie sid=1}], waits 1m0s, over; leaves out [0]",
		"/cart/a [{Cookie sid=1}], waits 0s, over; leaves out [0]",
		"/seat/7 [{Cookie sid=1}], waits 0s",
		"in another step waits 1m0s, leaves out [0]",
		"/cart/a [{Cookie sid=1}], waits 0s, over; leaves out []",
		"/login [], waits 0s",
	}
	if got, want := strings.Join(got, "\n"), strings.Join(want, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What may be the first request of a journey must have its values.
func TestFirstRequestsWithoutValuesAreRefused(t *testing.T) {
	for want, edit := range map[string]func(*Config){
		"": func(*Config) {},
		`journey "look": steps[2]: request "cart" has ${token}, and may be the first of a journey, when the user has none: give a step before it that captures token the condition token == null, or this step token != null`: func(c *Config) {
			c.Journeys[0].Steps[0].If = "status == 0"
		},
		`journey "sit": steps[1]: request "seat" has ${seat}, and may be the first of a journey`: func(c *Config) { c.Journeys[1].Steps[1].If = "status == 200" },
		`journey "sit": keepValues: must be the same of all journeys, which the same users carry out`: func(c *Config) {
			c.Requests[2].Path = "/seat"
			c.Journeys[1].KeepValues, c.Journeys[1].Steps = false, []JourneyStep{{Request: 0, Times: 1}}
		},
		`journey "look": steps: with keepValues, at least one request must have no if`:                     func(c *Config) { c.Journeys[0].Steps[2].If = "token != null" },
		`journey "look": steps[1]: if: may have no result, and is asked before the journey sends anything`: func(c *Config) { c.Journeys[0].Steps[1].If = "token > 3" },
		`journey "look": steps[2]: request "seat" has ${seat}, which no request before it captures`:        func(c *Config) { c.Journeys[0].Steps[2].Request = 2 },
	} {
		c := member()
		edit(&c)
		if _, err := New(c); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}
