package socket

import (
	"bytes"
	"math/rand/v2"
	"net"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// However records are cut into pieces and whatever room there is, all text of the records
// that are whole is returned, and none is kept.
func TestOpenReturnsTheTextOfAllWholeRecords(t *testing.T) {
	client, _, _, records := pair(t, true)
	secured := detached(t, client)
	random := rand.New(rand.NewPCG(1, 2))
	var pipe Pipe
	for round := range 3000 {
		var in, want []byte
		for range 1 + random.IntN(3) {
			if random.IntN(4) == 0 {
				in = append(in, records.Record(scripted.HandshakeRecord, scripted.Ticket(9)...)...)
			}
			text := make([]byte, []int{0, 1, random.IntN(100), random.IntN(16 << 10)}[random.IntN(4)])
			for i := range text {
				text[i] = byte(random.Uint32())
			}
			in, want = append(in, records.Record(scripted.TextRecord, text...)...), append(want, text...)
		}
		got := make([]byte, 0, random.IntN(200))
		for len(in) > 0 {
			n := len(in)
			if random.IntN(2) == 0 {
				n = 1 + random.IntN(n)
			}
			var err error
			if got, err = secured.Open(&pipe, in[:n], got); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
			in = in[n:]
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("round %d: %d bytes of text, want %d", round, len(got), len(want))
		}
	}
}

// What TLS read beyond a record before its socket was detached is returned with what comes
// first.
func TestOpenReturnsWhatWasReadBefore(t *testing.T) {
	client, _, _, records := pair(t, true)
	records.WriteRaw(append(records.Record(scripted.TextRecord, []byte("ab")...), records.Record(scripted.TextRecord, []byte("cd")...)...))
	got := make([]byte, 1, 100)
	if _, err := client.Read(got); err != nil { // one segment has both
		t.Fatal(err)
	}
	secured := detached(t, client)
	var pipe Pipe
	for _, text := range []string{"ef", "gh"} {
		var err error
		got, err = secured.Open(&pipe, records.Record(scripted.TextRecord, []byte(text)...), got)
		must.Succeed(t, err)
	}
	if string(got) != "abcdefgh" {
		t.Errorf("%q, want abcdefgh", got)
	}
}

// detached is the TLS of a connection whose socket is detached until the end of the test.
func detached(t *testing.T, client net.Conn) *TLS {
	t.Helper()
	fd, secured, err := Detach(client)
	must.Succeed(t, err)
	t.Cleanup(func() {
		if _, err := Attach(fd, secured); err != nil { // so that it can be closed
			t.Error(err)
		}
	})
	return secured
}

// Where a record ends does not depend on the pieces that it comes in.
func TestRecordsAreFollowedInPieces(t *testing.T) {
	stream := []byte{23, 3, 3, 0, 2, 'a', 'b', 22, 3, 3, 0, 0, 23, 3, 3, 1, 0}
	stream = append(stream, make([]byte, 256)...)
	ends := map[int]bool{7: true, 12: true, len(stream): true}
	for size := 1; size <= len(stream); size++ {
		var r records
		var ended, want int
		for from := 0; from < len(stream); from += size {
			to := min(from+size, len(stream))
			n, whole := r.follow(stream[from:to])
			ended += n
			for end := range ends {
				if end > from && end <= to {
					want++
				}
			}
			if ended != want || whole != ends[to] {
				t.Errorf("in pieces of %d, after %d bytes: %d ended, whole %v, want %d, %v", size, to, ended, whole, want, ends[to])
			}
		}
	}
}
