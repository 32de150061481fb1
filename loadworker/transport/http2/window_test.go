package http2

import (
	"bytes"
	"fmt"
	"testing"

	xhttp2 "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func (c *client) mustFeed(b []byte) {
	c.t.Helper()
	must.Succeed(c.t, c.Feed(b))
}

// want checks which frames the client sends.
func (c *client) want(want string) {
	c.t.Helper()
	if got := fmt.Sprint(frames(c.t, c.sent())); got != "["+want+"]" {
		c.t.Errorf("sent %s, want [%s]", got, want)
	}
}

func post(n int) *transport.Request {
	return &transport.Request{Method: "POST", Path: []byte("/"), Body: make([]byte, n)}
}

func TestABodyWaitsForTheWindows(t *testing.T) {
	c, s := ready(t, xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 10})
	st := c.send(post(25))
	c.want("HEADERS 1 DATA 1 10 false")
	s.must(s.WriteWindowUpdate(1, 5))
	c.mustFeed(s.take())
	c.want("DATA 1 5 false")
	// The window becomes negative: what is granted makes up for that first.
	s.must(s.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 2}))
	s.must(s.WriteWindowUpdate(1, 8))
	c.mustFeed(s.take())
	c.want("SETTINGS 0 true")
	s.must(s.WriteWindowUpdate(1, 1))
	s.must(s.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 12}))
	c.mustFeed(s.take())
	c.want("DATA 1 1 false SETTINGS 0 true DATA 1 9 true")
	if st.HasRest() || c.outcome(st) != "" {
		t.Errorf("a rest %v, outcome %q", st.HasRest(), c.outcome(st))
	}
}

func TestABodyWaitsForTheWindowOfTheConnection(t *testing.T) {
	c, s := ready(t, xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 1 << 20}, xhttp2.Setting{ID: xhttp2.SettingMaxFrameSize, Val: 1 << 20})
	c.send(post(firstWindow + 7))
	c.want("HEADERS 1 DATA 1 65535 false")
	other := c.send(post(3))
	c.want("HEADERS 3")
	s.must(s.WriteWindowUpdate(0, 9))
	c.mustFeed(s.take())
	c.want("DATA 1 7 true DATA 3 2 false")
	// A response that comes before the whole request has no use for the rest of it.
	s.headers(3, true, ":status", "413")
	c.mustFeed(s.take())
	c.want("RST_STREAM 3 NO_ERROR")
	malformed := c.send(post(3))
	s.headers(5, true, ":status", "413", "content-length", "9")
	c.mustFeed(s.take())
	c.want("HEADERS 5 RST_STREAM 5 NO_ERROR")
	if c.outcome(other) != "413" || c.outcome(malformed) != "badResponse" || c.blocked != 0 {
		t.Errorf("outcomes %q and %q, %d blocked", c.outcome(other), c.outcome(malformed), c.blocked)
	}
}

func TestRequestsWaitForTheServersLimit(t *testing.T) {
	c, s := ready(t, xhttp2.Setting{ID: xhttp2.SettingMaxConcurrentStreams, Val: 2})
	if c.Room() != 2 {
		t.Errorf("room for %d, want 2", c.Room())
	}
	first, _, third, fourth := c.get(), c.get(), c.send(post(5)), c.get()
	c.want("HEADERS 1 HEADERS 3")
	c.Cancel(fourth)
	s.headers(1, true, ":status", "200")
	c.mustFeed(s.take())
	c.want("HEADERS 5 DATA 5 5 true")
	s.must(s.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingMaxConcurrentStreams, Val: 0}))
	c.mustFeed(s.take())
	last := c.get()
	s.must(s.WriteGoAway(3, xhttp2.ErrCodeNo, nil))
	c.mustFeed(s.take())
	c.want("SETTINGS 0 true")
	got := fmt.Sprintf("%s %s %s %d", c.outcome(first), c.outcome(third), c.outcome(last), len(c.ends[fourth]))
	if got != "200 refused refused 0" || c.InFlight() != 1 {
		t.Errorf("outcomes %s, %d in flight", got, c.InFlight())
	}
	if c.Usable() || c.Room() != 0 {
		t.Error("it takes requests after GOAWAY")
	}
}

func TestALimitThatIsNotSetIsLarge(t *testing.T) {
	c := newClient(t)
	if c.Room() != firstLimit {
		t.Errorf("room for %d before the settings", c.Room())
	}
	c, _ = ready(t)
	if c.Room() != unlimited {
		t.Errorf("room for %d after them", c.Room())
	}
}

func TestTheNumbersOfStreamsEnd(t *testing.T) {
	c, _ := ready(t)
	c.next = maxID
	if c.Room() != 1 {
		t.Errorf("room for %d, want 1", c.Room())
	}
	c.get()
	if c.Usable() || c.Room() != 0 || c.InFlight() != 1 {
		t.Errorf("usable %v, room for %d", c.Usable(), c.Room())
	}
}

// What the server may send is granted anew once half of it was used.
func TestWindowsAreToppedUp(t *testing.T) {
	c, s := ready(t)
	c.get()
	c.sent()
	s.headers(1, false, ":status", "200")
	s.must(s.WriteData(1, false, make([]byte, maxFrame)))
	one := s.take()
	c.mustFeed(one)
	data := one[len(one)-maxFrame-frameHeader:]
	for range wideWindow/2/maxFrame - 2 {
		c.mustFeed(data)
	}
	c.want("")
	c.mustFeed(data)
	c.want(fmt.Sprintf("WINDOW_UPDATE 0 %d WINDOW_UPDATE 1 %d", wideWindow/2, wideWindow/2))
	c.credit.granted = maxFrame - 1
	if err := c.Feed(data); err == nil {
		t.Error("more than was granted came and was accepted")
	}
}

// The server may go on sending on a stream that was cancelled, and its header block counts
// for the decoder.
func TestACancelledStreamIsStillRead(t *testing.T) {
	c, s := ready(t)
	st, next := c.get(), c.get()
	c.Cancel(st)
	c.want("HEADERS 1 HEADERS 3 RST_STREAM 1 CANCEL")
	s.headers(1, false, ":status", "200", "x", "a value for the table")
	s.must(s.WriteData(1, true, []byte("late")))
	s.headers(3, true, ":status", "201", "x", "a value for the table")
	c.mustFeed(s.take())
	if c.outcome(next) != "201" || len(c.ends[st]) != 0 {
		t.Errorf("outcome %q; of the cancelled one %v", c.outcome(next), c.ends[st])
	}
}

// A header block with the same bytes means something else once the table has changed.
func TestTheSameBlockIsReadAnewWhenTheTableChanges(t *testing.T) {
	c, s := ready(t)
	status := func(id uint32, block ...byte) {
		st := c.get()
		s.must(s.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: id, BlockFragment: block, EndHeaders: true, EndStream: true}))
		c.mustFeed(s.take())
		if want := map[uint32]string{1: "201", 3: "201", 5: "201", 7: "202", 9: "202"}[id]; c.outcome(st) != want {
			t.Errorf("stream %d: %s, want %s", id, c.outcome(st), want)
		}
	}
	const add, newest = 0x48, 0x80 | 62
	status(1, add, 3, '2', '0', '1')
	status(3, newest)
	status(5, newest)
	status(7, add, 3, '2', '0', '2')
	status(9, newest)
}

func TestARequestIsEncoded(t *testing.T) {
	long := string(bytes.Repeat([]byte("x"), 40_000))
	for name, tt := range map[string]struct {
		request transport.Request
		want    string
		frames  string
	}{
		"a GET":   {transport.Request{Method: "GET", Path: []byte("/")}, "[:method=GET :scheme=http :path=/ :authority=shop.test user-agent=agent]", "HEADERS 1"},
		"OPTIONS": {transport.Request{Method: "OPTIONS", Path: []byte("*"), Host: []byte("other")}, "[:method=OPTIONS :scheme=http :path=* :authority=other user-agent=agent]", "HEADERS 1"},
		"a POST without a body": {transport.Request{Method: "POST", Path: []byte("/a?b"), Headers: []transport.Header{
			{Name: "User-Agent", Value: []byte("mine")}, {Name: "Connection", Value: []byte("close")}, {Name: "X-Y", Value: []byte(" \tZ z ")},
		}}, "[:method=POST :scheme=http :path=/a?b :authority=shop.test user-agent=mine x-y=Z z content-length=0]", "HEADERS 1"},
		"a long header": {transport.Request{Method: "GET", Path: []byte("/"), Headers: []transport.Header{{Name: "A", Value: []byte(long)}}},
			"[:method=GET :scheme=http :path=/ :authority=shop.test a=" + long + " user-agent=agent]", "HEADERS 1 CONTINUATION 1 CONTINUATION 1"},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := ready(t)
			c.send(&tt.request)
			sent := bytes.Clone(c.Output())
			c.want(tt.frames)
			var block []byte
			for len(sent) > 0 {
				f := parseFrame(sent)
				block = append(block, sent[frameHeader:frameHeader+f.length]...)
				sent = sent[frameHeader+f.length:]
			}
			var got []string
			d := hpack.NewDecoder(4096, func(f hpack.HeaderField) { got = append(got, f.Name+"="+f.Value) })
			if _, err := d.Write(block); err != nil || fmt.Sprint(got) != tt.want {
				t.Errorf("%.300v, %v, want %.300s", got, err, tt.want)
			}
		})
	}
}
