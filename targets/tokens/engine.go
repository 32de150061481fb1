package tokens

import (
	"errors"
	"slices"
	"time"
)

// ErrFull says that all slots are taken, and all places in the queue.
var ErrFull = errors.New("the server is full")

// Sequence is one request.
type Sequence struct {
	// Prompt is how many tokens its prompt has, Tokens how many it asks for.
	Prompt, Tokens int
	// Generated is how many it was given.
	Generated int
}

// Engine is what runs and what waits. It has no clock: who uses it says when a step begins
// and ends. It is for one goroutine at a time.
type Engine struct {
	parameters Parameters
	waiting    []*Sequence // the oldest first
	running    []*Sequence
}

// NewEngine returns an idle engine of valid parameters.
func NewEngine(p Parameters) *Engine { return &Engine{parameters: p} }

// Submit enters a sequence, or returns ErrFull.
func (e *Engine) Submit(s *Sequence) error {
	if len(e.running)+len(e.waiting) >= e.parameters.Slots+e.parameters.Queue {
		return ErrFull
	}
	e.waiting = append(e.waiting, s)
	return nil
}

// Leave removes a sequence, wherever it is. The step that is under way takes no less for it.
func (e *Engine) Leave(s *Sequence) {
	is := func(other *Sequence) bool { return other == s }
	e.waiting = slices.DeleteFunc(e.waiting, is)
	e.running = slices.DeleteFunc(e.running, is)
}

// Begin begins a step, and returns what it takes. Without a sequence there is none.
func (e *Engine) Begin() (takes time.Duration, busy bool) {
	prompt := 0
	admitted := e.waiting[:min(len(e.waiting), e.parameters.Slots-len(e.running))]
	for _, s := range admitted {
		prompt += s.Prompt
	}
	e.running = append(e.running, admitted...)
	e.waiting = slices.Delete(e.waiting, 0, len(admitted))
	if len(e.running) == 0 {
		return 0, false
	}
	return e.parameters.step(len(e.running), prompt), true
}

// End ends the step: each sequence that has had its slot since the beginning has one token
// more, and is returned. Those that have all their tokens are gone.
func (e *Engine) End() []*Sequence {
	given := slices.Clone(e.running)
	for _, s := range given {
		s.Generated++
	}
	e.running = slices.DeleteFunc(e.running, func(s *Sequence) bool { return s.Generated >= s.Tokens })
	return given
}

// Load is how many sequences run and how many wait.
func (e *Engine) Load() (running, waiting int) { return len(e.running), len(e.waiting) }
