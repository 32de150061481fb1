package transport_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// Bodies of many connections, in pieces of any size, are kept whole or not at all, and take
// no more than the budget at any time.
func TestBodiesKeepWithinTheBudget(t *testing.T) {
	const most = 1 << 20
	rng := rand.New(rand.NewPCG(1, 2))
	budget := transport.NewBudget(most)
	list := make([]transport.Body, 20)
	sent := make([][]byte, len(list))
	keeps := make([]int, len(list))
	var whole, refused int
	for range 20_000 {
		i := rng.IntN(len(list))
		b := &list[i]
		if rng.IntN(20) == 0 {
			switch r := b.In(transport.Response{}); {
			case r.NoRoom:
				refused++
			case bytes.Equal(r.Body, sent[i][:min(len(sent[i]), keeps[i])]):
				whole++
			default:
				t.Fatalf("%d bytes are kept of %d, and not those", len(r.Body), len(sent[i]))
			}
			b.Free()
			sent[i], keeps[i], b.Budget = nil, rng.IntN(300<<10), budget
			b.Begin(keeps[i])
			continue
		}
		p := make([]byte, rng.IntN(20<<10))
		for k := range p {
			p[k] = byte(rng.Uint32())
		}
		sent[i] = append(sent[i], p...)
		b.Append(p)
		if taken := budget.Taken(); taken < 0 || taken > most {
			t.Fatalf("%d bytes are taken of %d", taken, most)
		}
	}
	if whole < 100 || refused < 100 {
		t.Errorf("%d bodies were kept and %d refused: too few of either to say much", whole, refused)
	}
	for i := range list {
		list[i].Free()
	}
	if taken := budget.Taken(); taken != 0 {
		t.Errorf("%d bytes are taken by nothing", taken)
	}
}

// Every client takes the memory for bodies from the budget and gives all of it back,
// whatever becomes of the response.
func TestClientsGiveTheMemoryOfBodiesBack(t *testing.T) {
	const size = 100_000
	body := strings.Repeat("b", size)
	tests := map[string]struct {
		answer string
		budget int64
		kept   int
		noRoom bool
		fails  bool
	}{
		"a body":                {fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", size, body), 1 << 20, size, false, false},
		"one in chunks":         {fmt.Sprintf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", size, body), 1 << 20, size, false, false},
		"no room":               {fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", size, body), 20_000, 0, true, false},
		"a small one":           {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 0, 2, false, false},
		"closed in the middle":  {fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", size+1, body), 1 << 20, 0, false, true},
		"a chunk that is wrong": {fmt.Sprintf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\nxyz\r\n", size, body), 1 << 20, 0, false, true},
	}
	for name, tt := range tests {
		for _, newClient := range overHTTP1 {
			client := newClient(scripted.NewDialer(t, dial.Config{URL: scripted.Serve(t, scripted.Answer(tt.answer))}))
			budget := transport.NewBudget(tt.budget)
			r := &transport.Request{Method: "GET", Path: []byte("/"), Keep: 1 << 20, Budget: budget}
			conn := client.NewConn()
			got, err := conn.Do(t.Context(), r, time.Now().Add(scripted.Patience))
			if (err != nil) != tt.fails || len(got.Body) != tt.kept || got.NoRoom != tt.noRoom || !tt.fails && got.Size < 2 {
				t.Errorf("%s, %s: %d of %d bytes, no room: %t, %v", client.Name(), name, len(got.Body), got.Size, got.NoRoom, err)
			}
			if taken := budget.Taken(); (taken > 0) != (tt.kept == size) {
				t.Errorf("%s, %s: %d bytes are taken", client.Name(), name, taken)
			}
			got.Free()
			if taken := budget.Taken(); taken != 0 || got.Body != nil {
				t.Errorf("%s, %s: %d bytes are taken after that", client.Name(), name, taken)
			}
			conn.Close()
		}
	}
}
