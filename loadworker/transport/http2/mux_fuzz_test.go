package http2

import (
	"math/rand/v2"
	"testing"

	xhttp2 "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// fuzzMemory is what a Mux may keep of what a server sends.
const fuzzMemory = 2 << 20

// FuzzMux feeds any bytes, in pieces of any size, while requests are sent and cancelled:
// each request has one outcome in the end, and little is kept.
func FuzzMux(f *testing.F) {
	s := newServer()
	s.must(s.WriteSettings())
	s.headers(1, false, ":status", "200", "content-length", "3")
	s.must(s.WriteDataPadded(1, true, []byte("abc"), make([]byte, 3)))
	s.headers(3, true, ":status", "204")
	s.must(s.WriteGoAway(5, 0, nil))
	s.must(s.WriteRSTStream(5, 7))
	f.Add(s.take(), uint64(1))
	s.must(s.WriteSettings())
	for id := uint32(1); id < 20; id += 2 {
		s.headers(id, false, ":status", "200", "content-type", "application/grpc")
		s.must(s.WriteData(id, false, []byte{0, 0, 0, 0, 1, 'a'}))
		s.headers(id, true, "grpc-status", "0")
	}
	f.Add(s.take(), uint64(3))
	s.must(s.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 10}))
	for id := uint32(1); id < 10; id += 2 {
		s.headers(id, false, ":status", "200", "content-type", "application/grpc", "grpc-encoding", "gzip")
		s.must(s.WriteData(id, false, []byte{0, 0, 0, 0, 1, 'a', 1, 0, 0, 0, 1, 'b', 0, 0, 0}))
		s.must(s.WriteWindowUpdate(id, 20))
		s.must(s.WriteData(id, false, []byte{0, 0}))
		s.headers(id, true, "grpc-status", "0")
		s.must(s.WriteRSTStream(id, xhttp2.ErrCodeNo))
	}
	f.Add(s.take(), uint64(5))
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), uint64(2))
	f.Fuzz(func(t *testing.T, in []byte, seed uint64) {
		random := rand.New(rand.NewPCG(seed, seed))
		c := newClient(t)
		var err error
		cancelled := map[*Stream]bool{}
		watched := map[*Stream]*scripted.Watcher{}
		for len(in) > 0 && err == nil {
			switch random.IntN(4) {
			case 0:
				if c.Usable() && c.InFlight() < 10 {
					r := transport.Request{
						Method: "POST", Path: []byte("/"), Body: make([]byte, random.IntN(100_000)), Keep: 10, Call: random.IntN(2) == 0,
						Replies: transport.Replies{Stream: random.IntN(2) == 0, Gzip: random.IntN(2) == 0},
					}
					if random.IntN(2) == 0 {
						c.send(&r)
						continue
					}
					st, w := c.sendStream(r, transport.Stream{Events: transport.EventFormat(random.IntN(4)), Until: []string{"", "a"}[random.IntN(2)]})
					watched[st] = w
				}
			case 1:
				if n := len(c.streams); n > 0 {
					if st := c.streams[random.IntN(n)]; len(c.ends[st]) == 0 && !cancelled[st] {
						cancelled[st] = true
						c.Cancel(st)
					}
				}
			}
			n := 1 + random.IntN(len(in))
			err = c.Feed(in[:n])
			in = in[n:]
			for _, st := range c.streams {
				if n := len(st.Response().Body); n > 10 {
					t.Fatalf("%d bytes of a body are kept", n)
				}
			}
			if kept := cap(c.held) + cap(c.block.bytes) + cap(c.same.bytes); kept > fuzzMemory {
				t.Fatalf("%d bytes are kept", kept)
			}
			c.sent()
		}
		c.End(err)
		for st, w := range watched {
			if got := st.events.Streamed().Events; int(got) != w.Sum() {
				t.Fatalf("told of %d events of %d", w.Sum(), got)
			}
		}
		for _, st := range c.streams {
			if want := 1; cancelled[st] {
				if len(c.ends[st]) != 0 {
					t.Fatalf("a request that was cancelled ended: %v", c.ends[st])
				}
			} else if len(c.ends[st]) != want {
				t.Fatalf("a request has %d outcomes: %v", len(c.ends[st]), c.ends[st])
			}
		}
	})
}

// FuzzChangesTable: a block is remembered only if it leaves the decoder's table alone. What
// is said of any bytes neither panics nor, of a valid block, is wrong.
func FuzzChangesTable(f *testing.F) {
	first := []byte{0x40, 1, 'a', 1, 'b'}
	f.Add([]byte{0x88})
	f.Add(first)
	f.Add([]byte{0x20})
	f.Add([]byte{0xbe, 0x0f, 0x2f, 1, 'c', 0x10, 1, 'a', 0x81, 0x1f})
	f.Add([]byte{0, 0x7f, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f})
	f.Fuzz(func(t *testing.T, b []byte) {
		d := hpack.NewDecoder(tableSize, nil)
		if _, err := d.DecodeFull(first); err != nil {
			t.Fatal(err)
		}
		if _, err := d.DecodeFull(b); changesTable(b) || err != nil {
			return
		}
		fields, err := d.DecodeFull([]byte{0xbe}) // the newest of the table
		if _, second := d.DecodeFull([]byte{0xbf}); err != nil || fields[0].Name != "a" || fields[0].Value != "b" || second == nil {
			t.Fatalf("the table has %v, %v", fields, err)
		}
	})
}
