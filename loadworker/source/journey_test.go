package source

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/pace"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func accounts(t *testing.T, columns []string, rows ...string) *Table {
	t.Helper()
	table, err := NewTable("accounts", columns, Uniform)
	must.Succeed(t, err)
	for _, row := range rows {
		must.Succeed(t, table.Add(strings.Split(row, " ")))
	}
	return table
}

// shop is a mix of a journey and a request.
func shop(accounts *Table) Config {
	return Config{
		Tables: []*Table{accounts},
		Requests: []Request{
			{Name: "login", Method: "POST", Path: "/login?name=${name}"},
			{Name: "add", Method: "POST", Path: "/cart", Headers: []Header{{Name: "Authorization", Value: "Bearer ${token}"}}},
			{Name: "buy", Method: "POST", Path: "/buy/${cart}", Body: `{"token":"${token}","name":"${name}"}`},
			{Name: "health", Weight: 1, Method: "GET", Path: "/health"},
		},
		Journeys: []Journey{{
			Name: "shop", Weight: 1, User: accounts, TimeLimit: time.Minute,
			Steps: []JourneyStep{
				{Request: 0, Times: 1, Capture: map[string]string{"token": ".token"}},
				{Think: pace.Think{Shortest: time.Second, Longest: time.Second}},
				{Request: 1, Times: 2, Capture: map[string]string{"cart": ".items[0].cart"}},
				{Request: 2, Times: 1},
				{Think: pace.Think{Shortest: time.Hour, Longest: time.Hour}},
			},
		}},
	}
}

func answer(body string) *transport.Response {
	return &transport.Response{Status: 200, Size: int64(len(body)), Body: []byte(body)}
}

func TestWalkSendsAJourneyInOrder(t *testing.T) {
	s := mustNew(t, shop(accounts(t, []string{"name"}, "ann", "bob")))
	var got []string
	var b Buffer
	for user := range int64(3) {
		w := s.NewWalk(user+1, user, 3)
		for range 6 {
			w.Render(&b, Vars{})
			line := fmt.Sprintf("%d: %s %s %s", user, b.Request.Path, b.Request.Body, b.Request.Headers)
			got = append(got, strings.Join(strings.Fields(line), " "))
			must.Succeed(t, w.Answer(answer(fmt.Sprintf(`{"token":"t%d","items":[{"cart":7}]}`, user))))
			if m := w.Next(true, pace.NewDraws(1, 0)); m.Wait != 0 || m.Over {
				got = append(got, fmt.Sprintf("   waits %v, over %t", m.Wait, m.Over))
			}
		}
	}
	// The table has two rows: the third user has that of the first.
	want := []string{
		"0: /login?name=ann []", "   waits 1s, over false",
		"0: /cart [{Authorization Bearer t0}]", "0: /cart [{Authorization Bearer t0}]",
		`0: /buy/7 {"token":"t0","name":"ann"} []`, "   waits 1h0m0s, over true",
		"0: /health []", "0: /login?name=ann []", "   waits 1s, over false",
		"1: /health []", "1: /login?name=bob []", "   waits 1s, over false",
		"1: /cart [{Authorization Bearer t1}]", "1: /cart [{Authorization Bearer t1}]",
		`1: /buy/7 {"token":"t1","name":"bob"} []`, "   waits 1h0m0s, over true", "1: /health []",
		"2: /login?name=ann []", "   waits 1s, over false",
		"2: /cart [{Authorization Bearer t2}]", "2: /cart [{Authorization Bearer t2}]",
		`2: /buy/7 {"token":"t2","name":"ann"} []`, "   waits 1h0m0s, over true",
		"2: /health []", "2: /login?name=ann []", "   waits 1s, over false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestAFailedRequestEndsItsJourney(t *testing.T) {
	s := mustNew(t, shop(accounts(t, []string{"name"}, "ann")))
	w := s.NewWalk(1, 0, 1)
	var b Buffer
	w.Render(&b, Vars{})
	if m := w.Next(false, pace.NewDraws(1, 0)); m.Wait != 0 || !m.Over || !m.Failed {
		t.Errorf("%+v; want no wait and the end", m)
	}
	if n := w.Render(&b, Vars{}); n != 3 {
		t.Errorf("request %d follows, want that of the mix, 3", n)
	}
	counts := make([]int64, 4)
	w.CountAhead(6, counts)
	if want := []int64{1, 2, 1, 2}; !slices.Equal(counts, want) {
		t.Errorf("%v are ahead, want %v", counts, want)
	}
}

func TestCapturesThatAreRefused(t *testing.T) {
	for body, want := range map[string]string{
		`{"token":"a\r\nX-Evil: 1"}`:                    "capture.token: the value at .token holds a control character, and stands in a header",
		`{"token":"` + strings.Repeat("x", 4097) + `"}`: "capture.token: the value at .token has 4097 bytes, at most 4096 are kept",
		`{"secret":"s3cret"}`:                           "capture.token: the body of 19 bytes has no .token",
		`{"token":null,"secret":"s3cret"}`:              "capture.token: the body of 32 bytes has no .token",
		`s3cret`:                                        "capture: the body of 6 bytes is not JSON, wrong at byte 1; it looks like text/plain",
		`["s3cret"]`:                                    "capture.token: the body of 10 bytes has no .token",
	} {
		s := mustNew(t, shop(accounts(t, []string{"name"}, "ann")))
		w := s.NewWalk(1, 0, 1)
		w.Render(&Buffer{}, Vars{})
		if err := w.Answer(answer(body)); err == nil || err.Error() != want {
			t.Errorf("%.40s: %v, want %s", body, err, want)
		}
	}
	// In a path no space may stand, nor a second line.
	for _, body := range []string{`{"items":[{"cart":"a b"}]}`, `{"items":[{"cart":"a\nb"}]}`, `{"items":[{"cart":"a#b"}]}`} {
		s := mustNew(t, shop(accounts(t, []string{"name"}, "ann")))
		w := s.NewWalk(1, 0, 1)
		w.Render(&Buffer{}, Vars{})
		must.Succeed(t, w.Answer(answer(`{"token":"t"}`)))
		w.Next(true, pace.NewDraws(1, 0))
		w.Render(&Buffer{}, Vars{})
		if err := w.Answer(answer(body)); err == nil || !strings.Contains(err.Error(), "must be percent-encoded") {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestCookiesLastAsLongAsTheJourney(t *testing.T) {
	s := mustNew(t, Config{
		Requests: []Request{
			{Name: "login", Method: "GET", Path: "/login"},
			{Name: "own", Method: "GET", Path: "/", Headers: []Header{{Name: "Cookie", Value: "own=1"}}},
			{Name: "cart", Method: "GET", Path: "/cart"},
			{Name: "mixed", Weight: 1, Method: "GET", Path: "/mixed"},
		},
		Journeys: []Journey{{Name: "a", Weight: 1, Steps: []JourneyStep{{Request: 0, Times: 1}, {Request: 1, Times: 1}, {Request: 2, Times: 1}}}},
	})
	w := s.NewWalk(1, 0, 1)
	var got []string
	for range 5 {
		var b Buffer
		w.Render(&b, Vars{})
		got = append(got, fmt.Sprintf("%s %t %s", b.Request.Path, b.Request.KeepCookies, b.Request.Headers))
		must.Succeed(t, w.Answer(&transport.Response{Status: 200, SetCookies: []byte("sid=1\nsid2=2; Path=/nowhere")}))
		w.Next(true, pace.NewDraws(1, 0))
	}
	want := []string{"/login true []", "/ true [{Cookie own=1}]", "/cart true [{Cookie sid=1}]", "/mixed false []", "/login true []"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestJourneysThatAreRefused(t *testing.T) {
	for want, change := range map[string]func(*Config){
		`journey "shop": steps[0]: request "buy" has ${cart}, which no request before it captures`: func(c *Config) { c.Journeys[0].Steps[0].Request = 2 },
		`journey "shop": steps[2]: request "add" has ${token}, which no request before it captures`: func(c *Config) {
			c.Journeys[0].Steps[0].Capture = map[string]string{"other": ".a"}
			c.Journeys[0].Steps[2].Capture["token"] = ".t"
		},
		`journey "shop": steps[2]: there is no request 7`:                                                                                                         func(c *Config) { c.Journeys[0].Steps[2].Request = 7 },
		`journey "shop": steps[2]: more than 3200 requests`:                                                                                                       func(c *Config) { c.Journeys[0].Steps[2].Times = 3200 },
		`journey "shop": steps[0]: capture.token: "token" is not a path`:                                                                                          func(c *Config) { c.Journeys[0].Steps[0].Capture["token"] = "token" },
		`journey "shop": steps: there must be at least one with a request`:                                                                                        func(c *Config) { c.Requests, c.Journeys[0].Steps = c.Requests[3:], c.Journeys[0].Steps[1:2] },
		`journey "shop": weight: must be at least 1, is 0`:                                                                                                        func(c *Config) { c.Journeys[0].Weight = 0 },
		`journey "shop": capture "name": is a column of accounts too`:                                                                                             func(c *Config) { c.Journeys[0].Steps[0].Capture["name"] = ".name" },
		`journey "shop": capture "user": has the name of a variable`:                                                                                              func(c *Config) { c.Journeys[0].Steps[0].Capture["user"] = ".name" },
		`journey "shop": capture "a b": is not a name: use letters, digits and _`:                                                                                 func(c *Config) { c.Journeys[0].Steps[0].Capture["a b"] = ".name" },
		`request "add": weight: must be 0: ${token} is captured by a journey, which alone may send the request`:                                                   func(c *Config) { c.Requests[1].Weight = 1 },
		`request "add": header "Authorization": unknown variable ${tokn}; known are ${user}, ${seq}, ${worker}, ${uuid}, ${rand:a-b}, ${cart}, ${name}, ${token}`: func(c *Config) { c.Requests[1].Headers[0].Value = "${tokn}" },
	} {
		c := shop(accounts(t, []string{"name"}, "ann"))
		change(&c)
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}
