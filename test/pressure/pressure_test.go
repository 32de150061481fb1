package pressure

import (
	"testing"
	"time"
)

const (
	idleText = "some avg10=0.00 avg60=0.12 avg300=0.30 total=1000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=9\n"
	idleStat = "cpu  100 0 50 800 10 5 5 30 7 0\ncpu0 50 0 25 400 5 2 3 15 3 0\nintr 12345\n"
)

func TestParse(t *testing.T) {
	want := sample{waited: time.Second, stolen: 30, all: 1000}
	tests := map[string]struct {
		pressure, stat string
		ok             bool
	}{
		"as Linux writes them":       {idleText, idleStat, true},
		"without full":               {"some avg10=0.00 avg60=0.12 avg300=0.30 total=1000000\n", idleStat, true},
		"no line of some":            {"full avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\n", idleStat, false},
		"no total":                   {"some avg10=0.00 avg60=0.12 avg300=0.30\n", idleStat, false},
		"a total that is no number":  {"some total=many\n", idleStat, false},
		"nothing of pressure":        {"", idleStat, false},
		"nothing of the processors":  {idleText, "", false},
		"another line first":         {idleText, "intr 1 2 3 4 5 6 7 8 9\n", false},
		"a kernel without steal":     {idleText, "cpu  100 0 50 800 10 5 5\n", false},
		"ticks that are no number":   {idleText, "cpu  100 0 fifty 800 10 5 5 30\n", false},
		"a kernel without the guest": {idleText, "cpu  100 0 50 800 10 5 5 30\n", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := parse(tt.pressure, tt.stat)
			if ok != tt.ok || ok && got != want {
				t.Errorf("got %+v, %t; want %+v, %t", got, ok, want, tt.ok)
			}
		})
	}
}

func TestBusy(t *testing.T) {
	from := sample{waited: time.Second, stolen: 30, all: 1000}
	tests := map[string]struct {
		to     sample
		took   time.Duration
		busy   bool
		saying string
	}{
		"nothing waited":           {sample{time.Second, 30, 3000}, 10 * time.Second, false, "waiting 0%, stolen 0%"},
		"a little less than busy":  {sample{2999 * time.Millisecond, 30, 3000}, 10 * time.Second, false, "waiting 20%, stolen 0%"},
		"a fifth of the time":      {sample{3 * time.Second, 30, 3000}, 10 * time.Second, true, "waiting 20%, stolen 0%"},
		"the host takes a little":  {sample{time.Second, 129, 3000}, 10 * time.Second, false, "waiting 0%, stolen 5%"},
		"the host takes a part":    {sample{time.Second, 130, 3000}, 10 * time.Second, true, "waiting 0%, stolen 5%"},
		"no time at all":           {sample{9 * time.Second, 30, 1000}, 0, false, "the machine does not say how busy it was"},
		"no tick between the two":  {sample{time.Second, 30, 1000}, time.Millisecond, false, "waiting 0%, stolen 0%"},
		"all of the time, no tick": {sample{2 * time.Second, 30, 1000}, time.Second, true, "waiting 100%, stolen 0%"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := between(from, tt.to, tt.took)
			if r.Busy() != tt.busy || r.String() != tt.saying {
				t.Errorf("busy %t, %s; want %t, %s", r.Busy(), r, tt.busy, tt.saying)
			}
		})
	}
	if unknown := (Reading{Waiting: 1, Stolen: 1}); unknown.Busy() {
		t.Error("a machine that says nothing is called busy")
	}
}

func TestTooMany(t *testing.T) {
	for _, tt := range []struct {
		excused, of int
		want        bool
	}{{0, 0, false}, {1, 1, false}, {5, 5, false}, {2, 6, false}, {3, 6, true}, {5, 15, false}, {6, 15, true}, {102, 156, true}} {
		if got := TooMany(tt.excused, tt.of); got != tt.want {
			t.Errorf("%d of %d: too many is %t, want %t", tt.excused, tt.of, got, tt.want)
		}
	}
}
