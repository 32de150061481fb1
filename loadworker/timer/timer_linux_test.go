package timer

import "testing"

func TestTimerIsPreciseWhereTheKernelHasOne(t *testing.T) {
	timer := New()
	defer timer.Close()
	if _, ok := timer.(preciseTimer); !ok {
		t.Errorf("a %T is late by up to a millisecond", timer)
	}
}
