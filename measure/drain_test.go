package measure

import (
	"testing"
	"time"
)

func TestTheDrainIsAsLongAsTheTimeoutWithinABound(t *testing.T) {
	if got := Drain(2 * time.Second); got != 2*time.Second {
		t.Errorf("a short timeout drains for %v", got)
	}
	if got := Drain(10 * time.Minute); got != MaxDrain {
		t.Errorf("a long timeout drains for %v", got)
	}
}
