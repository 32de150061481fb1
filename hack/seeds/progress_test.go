package main

import (
	"testing"
	"time"
)

// What is left is corrected by how long the part that is done took.
func TestWhatIsLeftFollowsWhatWasTaken(t *testing.T) {
	now := time.Unix(0, 0)
	jobs := []job{{length: time.Minute}, {length: 2 * time.Minute}}
	jobs[0].Name, jobs[1].Name = "a", "b"
	p := newProgress(jobs)
	p.now = func() time.Time { return now }
	if got, want := p.begin(jobs[0]), "[1/2] a: 0 load tests, about 1m0s; about 3m0s left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	now = now.Add(90 * time.Second)
	p.end(jobs[0])
	if got, want := p.begin(jobs[1]), "[2/2] b: 0 load tests, about 2m0s; about 3m0s left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	p.end(jobs[1])
	if got, want := p.left(), "about 0s left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
