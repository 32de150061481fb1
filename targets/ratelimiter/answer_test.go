package ratelimiter

import (
	"testing"
	"time"
)

func TestWholeSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                       "1",
		time.Millisecond:        "1",
		time.Second:             "1",
		time.Second + 1:         "2",
		2500 * time.Millisecond: "3",
	} {
		if got := wholeSeconds(d); got != want {
			t.Errorf("wholeSeconds(%v) = %s, want %s", d, got, want)
		}
	}
}
