package http2

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	xhttp2 "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// fieldsOf are those of a request's header block, decoded without a table before it.
func fieldsOf(t *testing.T, o *Origin, r *transport.Request) []hpack.HeaderField {
	t.Helper()
	list, err := hpack.NewDecoder(0, nil).DecodeFull(appendBlock(nil, o, nil, r))
	must.Succeed(t, err)
	return list
}

// blocks are the header blocks of what is to be written.
func blocks(t *testing.T, c *client) (list [][]byte) {
	t.Helper()
	for b := c.sent(); len(b) > 0; {
		length := int(b[0])<<16 | int(b[1])<<8 | int(b[2])
		if frameType(b[3]) == frameHeaders {
			list = append(list, slices.Clone(b[frameHeader:frameHeader+length]))
		}
		b = b[frameHeader+length:]
	}
	return list
}

// The server's decoder enforces the size of its table, and has the fields of each request,
// whatever size it permits and when.
func TestHeaderBlocksOfAConnectionAreDecoded(t *testing.T) {
	variants := []transport.Request{
		{Method: "GET", Path: []byte("/")},
		{Method: "GET", Path: []byte("/a"), Host: []byte("other.test")},
		{Method: "POST", Path: []byte("/a"), Headers: []transport.Header{{Name: "User-Agent", Value: []byte("own")}, {Name: "Te", Value: []byte("trailers")}}},
		{Method: "POST", Path: []byte("/a.B/C"), Call: true, Headers: []transport.Header{
			{Name: "Te", Value: []byte("trailers")}, {Name: "Content-Type", Value: []byte("application/grpc")}, {Name: "X-N", Value: []byte("1")},
		}},
	}
	sizes := []uint32{4096, 0, 100, 250, 1 << 20}
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 0))
		c, s := ready(t)
		decoder := hpack.NewDecoder(4096, nil)
		for range 30 {
			if random.IntN(5) == 0 {
				size := sizes[random.IntN(len(sizes))]
				s.must(s.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingHeaderTableSize, Val: size}))
				must.Succeed(t, c.Feed(s.take()))
				decoder.SetAllowedMaxDynamicTableSize(size) // the client has acknowledged it
			}
			r := variants[random.IntN(len(variants))]
			c.send(&r)
			for _, block := range blocks(t, c) {
				got, err := decoder.DecodeFull(block)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if diff := cmp.Diff(fieldsOf(t, c.origin, &r), got); diff != "" {
					t.Fatalf("seed %d (-want +got):\n%s", seed, diff)
				}
			}
		}
	}
}

// Three requests on a connection: the second has one byte for each field that it shares with
// the first, unless the server's table has no room for them.
func TestFieldsAreSentOnce(t *testing.T) {
	for size, want := range map[uint32]string{
		4096: "[43 5 5]",
		// A limit is said once, in one to three bytes.
		200: "[46 5 5]",
		0:   "[44 43 43]",
	} {
		c, _ := ready(t, xhttp2.Setting{ID: xhttp2.SettingHeaderTableSize, Val: size})
		var lengths []int
		for range 3 {
			c.get()
			lengths = append(lengths, len(blocks(t, c)[0]))
		}
		if got := fmt.Sprint(lengths); got != want {
			t.Errorf("table of %d bytes: header blocks of %s bytes, want %s", size, got, want)
		}
	}
}

// A request that waited for others is sent after those that were accepted later, on a
// connection that has become free: its block depends on none before it.
func TestARequestThatWaitedIsDecoded(t *testing.T) {
	c, s := ready(t, xhttp2.Setting{ID: xhttp2.SettingMaxConcurrentStreams, Val: 0})
	r := transport.Request{Method: "GET", Path: []byte("/")}
	c.send(&r)
	s.must(s.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingMaxConcurrentStreams, Val: 10}))
	must.Succeed(t, c.Feed(s.take()))
	c.send(&r)
	c.send(&r)
	decoder := hpack.NewDecoder(4096, nil)
	sent := blocks(t, c)
	if len(sent) != 3 {
		t.Fatalf("%d header blocks, want 3", len(sent))
	}
	for _, block := range sent {
		got, err := decoder.DecodeFull(block)
		must.Succeed(t, err)
		if diff := cmp.Diff(fieldsOf(t, c.origin, &r), got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
