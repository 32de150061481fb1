package loop

import (
	"testing"
	"time"
)

// The first read since the loop asked for events finds out whether the process stood still;
// later ones come ever later themselves.
func TestReadsThatMayBeLate(t *testing.T) {
	const now = -time.Hour // before the step begins
	for name, tt := range map[string]struct {
		noted []time.Duration // waits, all of them an instant before
		want  bool
	}{
		"the first":                        {nil, true},
		"after one in time":                {[]time.Duration{0}, false},
		"after one just in time":           {[]time.Duration{lateAfter}, false},
		"after one that was late":          {[]time.Duration{lateAfter + 1}, true},
		"after others that were late, too": {[]time.Duration{lateAfter + 1, 0}, true},
	} {
		var p punctuality
		for _, waited := range tt.noted {
			p.note(now, waited)
		}
		if got := p.mayBeLate(now); got != tt.want {
			t.Errorf("%s: may be late %v, want %v", name, got, tt.want)
		}
	}
	var p punctuality
	p.note(now, 0)
	if !p.mayBeLate(now + lateAfter + 1) {
		t.Error("what is read long after the first may be late")
	}
}

// What comes within a moment after the loop was told of all that there was cannot have waited
// for longer than that.
func TestWhatCameSinceTheLoopWasToldOfAll(t *testing.T) {
	const first = -time.Hour // before the step begins
	for name, tt := range map[string]struct {
		after time.Duration
		part  bool          // it was told of
		read  time.Duration // after it was told again
		want  bool
	}{
		"at once":                     {0, false, 0, false},
		"just in time":                {lateAfter, false, 0, false},
		"after a pause":               {lateAfter + 1, false, 0, true},
		"read after others":           {lateAfter / 2, false, lateAfter/2 + 1, true},
		"where it was told of a part": {0, true, 0, true},
	} {
		var l told
		if p := l.again(first, !tt.part); !p.mayBeLate(first) {
			t.Fatalf("%s: it is known of the first that they were in time", name)
		}
		p := l.again(first+tt.after, true)
		if got := p.mayBeLate(first + tt.after + tt.read); got != tt.want {
			t.Errorf("%s: may be late %v, want %v", name, got, tt.want)
		}
	}
}
