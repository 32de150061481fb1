//go:build e2e

package e2e

import (
	"fmt"
	"sync"
)

// scores prints the lines of a suite, one at a time, and counts them by what came of each.
type scores struct {
	mu   sync.Mutex
	made int
	by   map[string]int
}

func (s *scores) note(outcome, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Printf(format+"\n", args...)
	if s.by == nil {
		s.by = map[string]int{}
	}
	s.made++
	s.by[outcome]++
}

// count is how often that came of something.
func (s *scores) count(outcome string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.by[outcome]
}

// all is how many lines there are.
func (s *scores) all() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.made
}
