package tokens

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// small has times that are easy to add.
var small = Parameters{Slots: 2, Queue: 1, Context: 100, PerPromptToken: time.Millisecond, Step: 10 * time.Millisecond, PerSequence: 3 * time.Millisecond}

// submit enters a sequence that must be accepted.
func submit(t *testing.T, e *Engine, prompt, tokens int) *Sequence {
	t.Helper()
	s := &Sequence{Prompt: prompt, Tokens: tokens}
	must.Succeed(t, e.Submit(s))
	return s
}

// step carries out a step, and returns what it takes; 0: there was none.
func step(e *Engine) time.Duration {
	takes, busy := e.Begin()
	if busy {
		e.End()
	}
	return takes
}

func TestStepsOfAnEngine(t *testing.T) {
	e := NewEngine(small)
	if took := step(e); took != 0 {
		t.Errorf("an idle engine takes a step of %v", took)
	}
	a := submit(t, e, 20, 2)
	if took := step(e); took != 33*time.Millisecond || a.Generated != 1 { // 20 of prompt, 10, and 3 for one
		t.Errorf("the first step took %v and gave %d tokens", took, a.Generated)
	}
	b, c := submit(t, e, 5, 1), submit(t, e, 7, 1)
	if err := e.Submit(&Sequence{Tokens: 1}); !errors.Is(err, ErrFull) {
		t.Errorf("a fourth sequence: %v, want %v", err, ErrFull)
	}
	if took := step(e); took != 21*time.Millisecond { // 5 of b's prompt, 10, and 6 for two; c waits
		t.Errorf("the second step took %v", took)
	}
	if a.Generated != 2 || b.Generated != 1 || c.Generated != 0 {
		t.Errorf("%d, %d and %d tokens, want 2, 1 and none", a.Generated, b.Generated, c.Generated)
	}
	if took := step(e); took != 20*time.Millisecond || c.Generated != 1 { // c's: 7, 10, 3
		t.Errorf("the third step took %v and gave %d tokens", took, c.Generated)
	}
	if took := step(e); took != 0 {
		t.Errorf("an engine without a sequence takes a step of %v", took)
	}
}

// What leaves in the middle of a step gets no token of it, and its place is free at once.
func TestLeaveFreesThePlaceAtOnce(t *testing.T) {
	e := NewEngine(small)
	a, b, c := submit(t, e, 0, 9), submit(t, e, 0, 9), submit(t, e, 0, 9)
	e.Begin()
	e.Leave(c) // it waits
	d := submit(t, e, 0, 9)
	e.Leave(a) // it runs
	f := submit(t, e, 0, 9)
	if err := e.Submit(&Sequence{Tokens: 1}); !errors.Is(err, ErrFull) {
		t.Errorf("more than there is room for: %v", err)
	}
	e.End()
	step(e)
	got := []int{a.Generated, b.Generated, c.Generated, d.Generated, f.Generated}
	same.As(t, "tokens", []int{0, 2, 0, 1, 0}, got)
	e.Leave(a) // again
	running, waiting := e.Load()
	if running != 2 || waiting != 1 {
		t.Errorf("%d run and %d wait, want 2 and 1", running, waiting)
	}
}

// A server that is never without enough requests answers as many as Capacity says: exactly
// those of equal requests, and on average others.
func TestCapacityIsWhatAFullServerAnswers(t *testing.T) {
	const batches = 1000
	for _, p := range []Parameters{small, Default(), {Slots: 1, Context: 2, Step: 1}, {Slots: 64, Queue: 3, Context: 9999, Step: time.Second, PerPromptToken: time.Microsecond}} {
		for _, size := range []struct{ prompt, tokens int }{{0, 1}, {100, 1}, {20, 64}, {1000, 16}} {
			t.Run(fmt.Sprintf("%d slots, %d and %d tokens", p.Slots, size.prompt, size.tokens), func(t *testing.T) {
				took := answered(p, batches*p.Slots, func() (int, int) { return size.prompt, size.tokens })
				got, want := float64(batches*p.Slots)/took.Seconds(), p.Capacity(size.prompt, size.tokens)
				if math.Abs(got/want-1) > 1e-9 {
					t.Errorf("%v requests a second, want %v", got, want)
				}
				random := rand.New(rand.NewPCG(1, 2))
				took = answered(p, batches*p.Slots, func() (int, int) { return random.IntN(2*size.prompt + 1), 1 + random.IntN(2*size.tokens-1) })
				if got := float64(batches*p.Slots) / took.Seconds(); math.Abs(got/want-1) > .1 {
					t.Errorf("of different requests, %v a second, want about %v", got, want)
				}
			})
		}
	}
}

// answered is how long an engine takes for so many requests, of which one always waits.
func answered(p Parameters, n int, draw func() (prompt, tokens int)) (took time.Duration) {
	p.Queue = 1
	for e := NewEngine(p); ; {
		for n > 0 {
			prompt, tokens := draw()
			if e.Submit(&Sequence{Prompt: prompt, Tokens: tokens}) != nil {
				break
			}
			n--
		}
		takes, busy := e.Begin()
		if !busy {
			return took
		}
		took += takes
		e.End()
	}
}

func TestValidateReportsEverything(t *testing.T) {
	must.Succeed(t, Default().Validate())
	err := Parameters{Slots: -1, Queue: MaxQueue + 1, Context: 1, PerPromptToken: -1, PerSequence: time.Hour}.Validate()
	want := []string{
		"slots is -1: use 1 to 1024", "queue is 100001: use 0 to 100000", "context is 1: use 2 to 1048576",
		"per-prompt-token is -1ns: use 0s to 1m0s", "step is 0s: use 1ns to 1m0s", "per-sequence is 1h0m0s: use 0s to 1m0s",
	}
	same.As(t, "errors", want, strings.Split(fmt.Sprint(err), "\n"))
}

func TestTokensOfTexts(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 1, "four": 1, "fives": 2, strings.Repeat("x", 80): 20, "é": 1} {
		if got := Count(text); got != want {
			t.Errorf("%q has %d tokens, want %d", text, got, want)
		}
	}
	var answer strings.Builder
	for i := range 12 {
		answer.WriteString(Token(i))
	}
	same.As(t, "answer", "These words mean nothing; only their times count. These words", answer.String())
}
