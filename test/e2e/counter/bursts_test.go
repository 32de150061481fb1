package main

import (
	"net/http"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestBurstsEndWithoutRequests(t *testing.T) {
	var b bursts
	begin := time.Now()
	for i, request := range []struct {
		name  string
		after time.Duration
		want  int
	}{
		{"a", 0, 1},
		{"a", 300 * time.Millisecond, 2},
		{"b", 400 * time.Millisecond, 1},
		{"a", 799 * time.Millisecond, 3},
		{"a", 700 * time.Millisecond, 4}, // it came before, and is counted after
		{"a", 1298 * time.Millisecond, 5},
		{"a", 1798 * time.Millisecond, 1},
		{"b", 900 * time.Millisecond, 1},
	} {
		if got := b.place(request.name, begin.Add(request.after)); got != request.want {
			t.Errorf("request %d is the %d. of its burst, want %d", i, got, request.want)
		}
	}
}

func TestRequestsBeyondTheGrantedAreRefused(t *testing.T) {
	x, url := start(t, t.TempDir())
	for i, want := range []int{http.StatusOK, http.StatusOK, http.StatusTooManyRequests} {
		status, err := get(url + "/a?grants=2")
		must.Succeed(t, err)
		if status != want {
			t.Errorf("request %d: status %d, want %d", i, status, want)
		}
	}
	mustCount(t, x, "a", count{Received: 3})
}
