package storetest

import (
	"sync"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

// clicksOn returns n clicks on each code.
func (s subject) clicksOn(codes []string, n int) []shortener.Click {
	var clicks []shortener.Click
	for range n {
		for _, code := range codes {
			clicks = append(clicks, shortener.NewClick(code, s.Now()))
		}
	}
	return clicks
}

func countedOnce(t *testing.T, s subject) {
	all := codes(10)
	for _, code := range all {
		s.create(t, code)
	}
	clicks := s.clicksOn(all, 5)
	s.add(t, 50, clicks...)
	s.add(t, 0, clicks...)                                         // all of them again
	s.add(t, 1, append(s.clicksOn(all[:1], 1), clicks[20:]...)...) // some, among a new one
	twice := shortener.NewClick(all[1], s.Now())
	s.add(t, 1, twice, twice)
	s.wantClicks(t, all[0], 6)
	s.wantClicks(t, all[1], 6)
	for _, code := range all[2:] {
		s.wantClicks(t, code, 5)
	}
	s.wantTotals(t, 10, 52)
}

// Consumers that were given the same clicks, in different orders, store each
// once between them.
func concurrentClicks(t *testing.T, s subject) {
	all := codes(6)
	for _, code := range all {
		s.create(t, code)
	}
	clicks := s.clicksOn(all, 20)
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		total int
	)
	for turn := range 8 {
		group.Go(func() {
			for i := range 6 {
				at := (turn*31 + i*20) % len(clicks)
				given := append(append([]shortener.Click{}, clicks[at:]...), clicks[:at]...)
				if turn%2 == 0 {
					given = given[:len(given)/2]
				}
				added, err := s.AddClicks(t.Context(), given)
				if err != nil {
					t.Errorf("AddClicks(): %v", err)
				}
				mu.Lock()
				total += added
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if total != len(clicks) {
		t.Errorf("%d clicks were added, want %d", total, len(clicks))
	}
	for _, code := range all {
		s.wantClicks(t, code, 20)
	}
	s.wantTotals(t, 6, 120)
}

func clickOnNothing(t *testing.T, s subject) {
	s.create(t, "code")
	s.add(t, 1, shortener.NewClick("nothing", s.Now()), shortener.NewClick("code", s.Now()))
	s.wantTotals(t, 1, 1)
}

// lateClick is queued while its link expires, and another link takes the code.
func lateClick(t *testing.T, s subject) {
	s.create(t, "code")
	s.Pass(time.Minute)
	late := shortener.NewClick("code", s.Now())
	s.Pass(time.Hour)
	s.create(t, "code")
	s.add(t, 0, late)
	s.wantClicks(t, "code", 0)
	s.add(t, 1, shortener.NewClick("code", s.Now().Add(-shortener.ClockError))) // by a clock that is behind
	s.wantClicks(t, "code", 1)
}

func noClicks(t *testing.T, s subject) { s.add(t, 0) }

func empty(t *testing.T, s subject) { s.wantTotals(t, 0, 0) }

func answers(t *testing.T, s subject) {
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("Ping() = %v", err)
	}
}
