package tokens

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Counts are what a service did so far. Each request is refused or accepted, and one that
// was accepted is finished, abandoned, running or waiting.
type Counts struct {
	Refused   uint64
	Accepted  uint64
	Finished  uint64
	Abandoned uint64
	// PromptTokens are those of accepted requests, Tokens those that they were given.
	PromptTokens uint64
	Tokens       uint64
	Running      int
	Waiting      int
}

// Service carries out the steps of an engine in time, while there is a request.
type Service struct {
	mu       sync.Mutex
	engine   *Engine
	requests map[*Sequence]*request
	counts   Counts
	stepping bool // a goroutine carries out steps; it ends when there is nothing to do
}

// request is a sequence whose client waits for it.
type request struct {
	Sequence
	given chan struct{} // holds a value if there are tokens that the client has not seen
}

// NewService returns an idle service.
func NewService(p Parameters) (*Service, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return &Service{engine: NewEngine(p), requests: map[*Sequence]*request{}}, nil
}

// Parameters are its parameters.
func (s *Service) Parameters() Parameters { return s.engine.parameters }

// Generation is an accepted request. Its client must call Close.
type Generation struct {
	service *Service
	request *request
	seen    int
}

// Submit enters a request for tokens, 1 or more, or returns ErrFull.
func (s *Service) Submit(prompt, tokens int) (*Generation, error) {
	if prompt < 0 || tokens < 1 {
		return nil, errors.New("a request asks for 1 token or more")
	}
	r := &request{Sequence: Sequence{Prompt: prompt, Tokens: tokens}, given: make(chan struct{}, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.engine.Submit(&r.Sequence); err != nil {
		s.counts.Refused++
		return nil, err
	}
	s.counts.Accepted++
	s.counts.PromptTokens += uint64(prompt)
	s.requests[&r.Sequence] = r
	if !s.stepping {
		s.stepping = true
		go s.steps(time.Now())
	}
	return &Generation{service: s, request: r}, nil
}

// Next waits for a token that Next has not returned yet, and returns how many there are by
// now; after the last one, it returns at once. A client that is slow misses none, and other clients do not
// wait for it. The error is the cause for which ctx ended.
func (g *Generation) Next(ctx context.Context) (int, error) {
	if g.seen >= g.request.Tokens {
		return g.seen, nil
	}
	select {
	case <-g.request.given:
	case <-ctx.Done():
		return g.seen, context.Cause(ctx)
	}
	g.service.mu.Lock()
	defer g.service.mu.Unlock()
	g.seen = g.request.Generated
	return g.seen, nil
}

// Close ends a request. What it still would have been given is not generated.
func (g *Generation) Close() {
	s := g.service
	s.mu.Lock()
	defer s.mu.Unlock()
	sequence := &g.request.Sequence
	if _, left := s.requests[sequence]; !left {
		return
	}
	delete(s.requests, sequence)
	s.engine.Leave(sequence)
	s.counts.Abandoned++
}

// Counts are of one instant.
func (s *Service) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.counts
	c.Running, c.Waiting = s.engine.Load()
	return c
}

// steps carries out steps from an instant on. One that ends late is made up for by the next
// one, so that the times add up; not by more, so that a machine that stood still gives no
// burst of tokens.
func (s *Service) steps(from time.Time) {
	for {
		takes, busy := s.begin()
		if !busy {
			return
		}
		if now := time.Now(); now.Sub(from) > takes {
			from = now
		}
		from = from.Add(takes)
		<-time.After(time.Until(from))
		s.end()
	}
}

func (s *Service) begin() (takes time.Duration, busy bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	takes, busy = s.engine.Begin()
	s.stepping = busy
	return takes, busy
}

func (s *Service) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sequence := range s.engine.End() {
		s.counts.Tokens++
		r := s.requests[sequence]
		select {
		case r.given <- struct{}{}:
		default: // the client has not seen those before
		}
		if sequence.Generated >= sequence.Tokens {
			s.counts.Finished++
			delete(s.requests, sequence)
		}
	}
}
