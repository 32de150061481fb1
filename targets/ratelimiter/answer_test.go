package ratelimiter

import (
	"fmt"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestSecondsAreRoundedUp(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                       "1",
		time.Millisecond:        "1",
		time.Second:             "1",
		time.Second + 1:         "2",
		2500 * time.Millisecond: "3",
	} {
		same.As(t, fmt.Sprintf("wholeSeconds(%v)", d), want, wholeSeconds(d))
	}
}
