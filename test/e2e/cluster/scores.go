package cluster

import (
	"fmt"
	"strings"
	"sync"
)

// Scores prints the lines of a suite, one at a time, and counts them by what came of each.
type Scores struct {
	mu   sync.Mutex
	made int
	by   map[string]int
}

// Note prints a line, and counts its outcome.
func (s *Scores) Note(outcome, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Printf(format+"\n", args...)
	if s.by == nil {
		s.by = map[string]int{}
	}
	s.made++
	s.by[outcome]++
}

// Count is how often that came of something.
func (s *Scores) Count(outcome string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.by[outcome]
}

// All is how many lines there are.
func (s *Scores) All() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.made
}

// Excerpt is one line of a text that shows a part of it.
func Excerpt(text, part string) string {
	const before, length = 60, 200
	text = strings.Join(strings.Fields(text), " ")
	runes := []rune(text)
	if len(runes) <= length {
		return text
	}
	at := 0
	if i := strings.Index(text, part); i >= 0 {
		at = max(0, len([]rune(text[:i]))-before)
	}
	end := min(at+length, len(runes))
	cut := string(runes[at:end])
	if at > 0 {
		cut = "..." + cut
	}
	if end < len(runes) {
		cut += "..."
	}
	return cut
}
