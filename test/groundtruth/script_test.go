package groundtruth

import (
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"
)

// What comes while the server stands still is answered at the end of that.
func TestStall(t *testing.T) {
	const from, length = 20 * time.Millisecond, 200 * time.Millisecond
	s := start(t, Config{Record: 10, Script: []Event{{Kind: Stall, From: from, For: length}}})
	c := dial(t, s.Address())
	c.get("/0")
	c.receive(len(ok64))
	first := s.Counters().First
	for n := 1; len(s.Counters().Stalls) == 0; n++ {
		c.get("/")
		c.receive(len(ok64))
	}
	c.get("/")
	c.receive(len(ok64))
	stall := until(t, s, func(c Counters) bool { return c.InFlight == 0 }).Stalls[0]
	if want := first + int64(from); stall.From < want {
		t.Errorf("the stall began %v too early", time.Duration(want-stall.From))
	}
	if want := first + int64(from+length); stall.To < want {
		t.Errorf("the stall ended %v too early", time.Duration(want-stall.To))
	}
	for _, r := range s.Records() {
		if stall.From < r.Answered && r.Answered < stall.To {
			t.Errorf("a request was answered %v after the stall began", time.Duration(r.Answered-stall.From))
		}
		if (r.Answered < stall.To) != (r.Processor < stall.Processor) {
			t.Errorf("record %+v has not the processor time of its side of the stall, %+v", r, stall)
		}
	}
}

func TestResets(t *testing.T) {
	s := start(t, Config{Script: []Event{{Kind: Resets, For: time.Hour}}})
	for range 3 {
		c := dial(t, s.Address())
		c.get("/")
		if rest, err := c.rest(); rest != "" || !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("answered %q, %v; want a reset", rest, err)
		}
	}
	got := until(t, s, func(c Counters) bool { return c.Open == 0 })
	if got.Requests != 3 || got.Answered != 0 || got.InFlight != 0 {
		t.Errorf("counters %+v, want 3 requests without an answer", got)
	}
}

// The port is closed, with all connections, and opened again.
func TestRefuse(t *testing.T) {
	const from, length = time.Second, 100 * time.Millisecond // the first answer leaves before
	s := start(t, Config{Loops: 2, Script: []Event{{Kind: Refuse, From: from, For: length}}})
	var all []*client
	for range 32 { // so many that no loop is without
		all = append(all, dial(t, s.Address()))
	}
	all[0].get("/")
	all[0].receive(len(ok64))
	for _, c := range all {
		if rest, err := c.rest(); rest != "" || err != nil {
			t.Errorf("an open connection says %q, %v; want its end", rest, err)
		}
	}
	answered, err := visit(s.Address())
	// A machine that pauses the test for a tenth of a second lets it see nothing.
	if Now()-s.Counters().First < int64(from+length) && !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("while the port is closed, a connection ends with %v", err)
	}
	for deadline := time.After(waitTimeout); !answered; answered, err = visit(s.Address()) {
		select {
		case <-deadline:
			t.Fatalf("the port is not opened again: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
}

// A thread that is not let run while the port is to be closed, as in a stall, still ends its connections, and leaves
// the port open.
func TestRefuseIsNotMissed(t *testing.T) {
	const from = time.Second // the first answer leaves before
	s := start(t, Config{Loops: 2, Script: []Event{
		{Kind: Stall, From: from, For: 300 * time.Millisecond}, {Kind: Refuse, From: from + 100*time.Millisecond, For: 100 * time.Millisecond},
	}})
	var all []*client
	for range 32 { // so many that no loop is without
		all = append(all, dial(t, s.Address()))
	}
	all[0].get("/")
	all[0].receive(len(ok64))
	for _, c := range all {
		if rest, err := c.rest(); rest != "" || err != nil {
			t.Errorf("an open connection says %q, %v; want its end", rest, err)
		}
	}
	if answered, err := visit(s.Address()); !answered {
		t.Errorf("the port is closed after its time: %v", err)
	}
}

// visit says whether a request over a connection of its own is answered.
func visit(address string) (bool, error) {
	c, err := net.Dial("tcp4", address)
	if err != nil {
		return false, err
	}
	defer func() { _ = c.Close() }()
	if err := c.SetDeadline(time.Now().Add(waitTimeout)); err != nil {
		return false, err
	}
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return false, err
	}
	_, err = io.ReadFull(c, make([]byte, len(ok64)))
	return err == nil, err
}

func TestScriptStartsAtFirstRequest(t *testing.T) {
	s := start(t, Config{Script: []Event{{Kind: Refuse, For: time.Hour}}})
	c := dial(t, s.Address())
	if got := s.Counters(); got.First != 0 {
		t.Errorf("the first request came at %d, before it was sent", got.First)
	}
	c.get("/")
	if got, _ := c.rest(); got != ok64 && got != "" {
		t.Errorf("answered %q", got)
	}
	until(t, s, func(c Counters) bool { return c.Open == 0 })
}

func TestParseEvent(t *testing.T) {
	tests := map[string]struct {
		want Event
		err  string
	}{
		"stall:10s:2s":   {want: Event{Kind: Stall, From: 10 * time.Second, For: 2 * time.Second}},
		"reset:0s:1h":    {want: Event{Kind: Resets, For: time.Hour}},
		"refuse:1s:1s":   {want: Event{Kind: Refuse, From: time.Second, For: time.Second}},
		"goaway:0s:1s":   {want: Event{Kind: GoAway, For: time.Second}},
		"slow:0s:1s":     {want: Event{Kind: SlowReads, For: time.Second}},
		"pause:1s:1s":    {err: "must be stall, reset, refuse, goaway or slow"},
		"stall":          {err: "time: invalid duration"},
		"stall:1s":       {err: "a value is missing"},
		"stall:1s:-1s":   {err: "-1s is negative"},
		"stall:1s:1s:1s": {err: `"1s" is too much`},
	}
	for text, tt := range tests {
		t.Run(text, func(t *testing.T) {
			got, err := ParseEvent(text)
			wantError(t, err, tt.err)
			if err == nil && got != tt.want {
				t.Errorf("ParseEvent = %+v, want %+v", got, tt.want)
			}
		})
	}
}
