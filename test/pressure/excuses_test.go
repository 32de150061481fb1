package pressure

import "testing"

func TestExcuses(t *testing.T) {
	busy, idle := Reading{Known: true, Waiting: 0.5, Stolen: 0.02}, Reading{Known: true}
	var e Excuses
	if code := e.Run(func() int { return 2 }); code != 2 {
		t.Errorf("code %d, want that of the tests", code)
	}
	for _, tt := range []struct {
		name     string
		hindered bool
		r        Reading
		want     bool
	}{
		{"hindered on a busy machine", true, busy, true},
		{"hindered on an idle machine", true, idle, false},
		{"not hindered on a busy machine", false, busy, false},
		{"hindered, and nothing is known", true, Reading{Waiting: 1}, false},
	} {
		if got := e.Takes(tt.name, tt.hindered, tt.r); got != tt.want {
			t.Errorf("%s: excused is %t", tt.name, got)
		}
	}
	const list = "excused: hindered on a busy machine (waiting 50%, stolen 2%)\n"
	if text, tooMany := e.summary(); text != list+"excused: 1 of 4 verdicts\n" || tooMany {
		t.Errorf("it says %q, too many is %t", text, tooMany)
	}
	e.Right()
	e.Takes("another", true, busy)
	if code := e.Run(func() int { return 0 }); code != 0 {
		t.Errorf("code %d, where 2 of 6 are excused", code)
	}
	e.Takes("one more", true, busy)
	text, tooMany := e.summary()
	if want := list + "excused: another (waiting 50%, stolen 2%)\nexcused: one more (waiting 50%, stolen 2%)\n" +
		"excused: 3 of 7 verdicts\nexcused: too many for the others to say something\nretest: never\n"; text != want || !tooMany {
		t.Errorf("it says %q, too many is %t", text, tooMany)
	}
	if code := e.Run(func() int { return 0 }); code != 1 {
		t.Errorf("code %d, where 3 of 7 are excused; want 1", code)
	}
}
