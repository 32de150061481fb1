package redis

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// What the fake server says of a run: granted with that many tokens left, or why
// not.
const (
	noScript = "-NOSCRIPT No matching script.\r\n"
	wrong    = "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n"
)

func granted(left int) string {
	text := fmt.Sprint(left)
	return fmt.Sprintf("*2\r\n:1\r\n$%d\r\n%s\r\n", len(text), text)
}

func scriptOn(t *testing.T, addr string) *script {
	t.Helper()
	store, err := Open(Options{Addr: addr, PoolSize: 2})
	must.Succeed(t, err)
	must.Close(t, store)
	return newLimiter(t, store, Config{Strategy: ratelimiter.Lua, Contract: seed, Now: (&manual{}).Now}).(*script)
}

// together runs the script for each client in one pipeline, and returns for each
// the tokens left, or what its error is.
func together(s *script, clients ...string) (got []string) {
	var runs []*run
	for _, client := range clients {
		runs = append(runs, &run{Question: question{key: key(client)}})
	}
	s.runAll(runs)
	for _, r := range runs {
		decision, err := decode(s.contract, r.Answer)
		switch {
		case r.Err != nil:
			got = append(got, r.Err.Error())
		case err != nil:
			got = append(got, err.Error())
		default:
			got = append(got, fmt.Sprint(decision.Remaining))
		}
	}
	return got
}

// A reply that is lost may be that of a grant. A retry would take a second token
// for one request. Replies that arrived before the loss stay valid.
func TestLostReplyIsNotRetried(t *testing.T) {
	tests := map[string]struct {
		replies     []string
		want, asked []string
	}{
		"the first": {
			want:  []string{"EOF", "EOF", "EOF"},
			asked: []string{"evalsha"},
		},
		"one after an answer": {
			replies: []string{granted(49)},
			want:    []string{"49", "EOF", "EOF"},
			asked:   []string{"evalsha", "evalsha"},
		},
		"the rest of one": {
			replies: []string{granted(49), "*2\r\n:1\r\n"},
			want:    []string{"49", "EOF", "EOF"},
			asked:   []string{"evalsha", "evalsha", "evalsha"},
		},
		"one after a failure": {
			replies: []string{wrong, granted(49)},
			want:    []string{"WRONGTYPE Operation against a key holding the wrong kind of value", "49", "EOF"},
			asked:   []string{"evalsha", "evalsha", "evalsha"},
		},
		"one of those that are sent in full": {
			replies: []string{noScript, granted(49), noScript, granted(48)},
			want:    []string{"48", "49", "EOF"},
			asked:   []string{"evalsha", "evalsha", "evalsha", "eval", "eval"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			server := newFake(t, tt.replies...)
			same.As(t, "decisions", tt.want, together(scriptOn(t, server.addr), "a", "b", "c"))
			same.As(t, "commands", tt.asked, server.scripts())
		})
	}
}

func TestLostReplyReturnsError(t *testing.T) {
	server := newFake(t)
	if got, err := scriptOn(t, server.addr).Take(t.Context(), "client"); err == nil {
		t.Errorf("decision = %+v, want an error", got)
	}
	same.As(t, "commands", []string{"evalsha"}, server.scripts())
}

// Another client may teach the server the script between two commands of a
// pipeline. Only those are sent again that it did not have.
func TestOnlyUnknownScriptsAreSentAgain(t *testing.T) {
	server := newFake(t, noScript, granted(49), granted(48))
	same.As(t, "decisions", []string{"48", "49"}, together(scriptOn(t, server.addr), "a", "a"))
	same.As(t, "commands", []string{"evalsha", "evalsha", "eval"}, server.scripts())
}

// A server that was restarted has no script. Each request takes one token all
// the same.
func TestScriptIsReloadedAfterFlush(t *testing.T) {
	store := openStore(t)
	s := newScript(store.client, ratelimiter.Contract{Capacity: 3, RefillPerSecond: 0.001}, nil, unguarded)
	for _, want := range [][]string{{"2", "1"}, {"0", "0"}} {
		must.Succeed(t, store.client.ScriptFlush(t.Context()).Err())
		same.As(t, "decisions", want, together(s, "client", "client"))
	}
}

// Wherever in a pipeline one run fails, the others do not.
func TestScriptErrorFailsOnlyItsRequest(t *testing.T) {
	const broken = "WRONGTYPE Operation against a key holding the wrong kind of value"
	for at := range 3 {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			store := openStore(t)
			clients, want := []string{"a", "b", "c"}, []string{"49", "49", "49"}
			must.Succeed(t, store.client.Set(t.Context(), key(clients[at]), "x", 0).Err())
			want[at] = broken
			for range 2 { // in full, and by the hash
				got := together(newScript(store.client, seed, nil, unguarded), clients...)
				if got[at] = got[at][:min(len(broken), len(got[at]))]; cmp.Diff(want, got) != "" {
					t.Errorf("decisions (-want +got):\n%s", cmp.Diff(want, got))
				}
				must.Succeed(t, store.client.Del(t.Context(), key(clients[(at+1)%3]), key(clients[(at+2)%3])).Err())
			}
		})
	}
}

// Requests of many clients at once: each is given the decision of its own bucket.
func TestEachRequestHasItsOwnDecision(t *testing.T) {
	limiter := newLimiter(t, openStore(t), Config{Strategy: ratelimiter.Lua, Contract: one, Now: (&manual{}).Now})
	var group sync.WaitGroup
	for i := range 100 {
		client := fmt.Sprint(i)
		group.Go(func() {
			for _, want := range []bool{true, false} {
				got, err := limiter.Take(t.Context(), client)
				if err != nil || got.Allowed != want {
					t.Errorf("client %s: %+v, %v; want allowed %v", client, got, err, want)
				}
			}
		})
	}
	group.Wait()
}

func TestDecodeRefuses(t *testing.T) {
	tests := map[string]struct {
		reply []any
		want  string
	}{
		"nothing":        {nil, "bucket script replied with 0 values, want 2"},
		"other types":    {[]any{"1", int64(3)}, "bucket script replied with string and int64, want a number and a text"},
		"text for a sum": {[]any{int64(1), "x"}, `parse tokens left: strconv.ParseFloat: parsing "x": invalid syntax`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := decode(seed, tt.reply); err == nil || err.Error() != tt.want {
				t.Errorf("%+v, %v; want %s", got, err, tt.want)
			}
		})
	}
}
