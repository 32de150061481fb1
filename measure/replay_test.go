package measure

import "testing"

// Lines add up over workers; one that has none leaves the others alone.
func TestLinesOfALogAddUp(t *testing.T) {
	a, b := NewMeasurement(1), NewMeasurement(1)
	a.Replay = &Replay{Lines: 100, NotParsed: 1, OtherMethods: 2, NotRouted: 3, OutOfOrder: 4, OutsideWindow: 5, Mistake: "line 9: why"}
	b.Replay = &Replay{Lines: 10, NotParsed: 1, Mistake: "line 7: why"}
	sum := NewMeasurement(1)
	for _, m := range []*Measurement{a, NewMeasurement(1), b} {
		if err := sum.Merge(m); err != nil {
			t.Fatal(err)
		}
	}
	if want := (Replay{Lines: 110, NotParsed: 2, OtherMethods: 2, NotRouted: 3, OutOfOrder: 4, OutsideWindow: 5, Mistake: "line 7: why"}); *sum.Replay != want {
		t.Errorf("%+v, want %+v", *sum.Replay, want)
	}
	if n := sum.Replay.ToSend(); n != 94 {
		t.Errorf("%d are to be sent, want 94", n)
	}
	if a.Replay.Lines != 100 {
		t.Errorf("the merge changed a part of it to %+v", a.Replay)
	}
}
