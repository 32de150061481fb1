package draft_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/draft"
	"github.com/loadtest-dev/loadtest-operator/test/golden"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func follow(t *testing.T, text string, timing *draft.Timing) *draft.Draft {
	t.Helper()
	s, err := draft.ReadSeries([]byte(text))
	must.Succeed(t, err)
	d := draft.FromSeries()
	must.Succeed(t, d.Follow(s, *timing))
	d.Service = "shop:80"
	return d
}

// A load that does not change has no pause in it.
func TestOneStepHasNothingBetween(t *testing.T) {
	_, manifest := accepted(t, follow(t, "2026-11-28T10:00:00Z,10\n2026-11-28T10:01:00Z,10\n", asItWas()), nil)
	if text := string(manifest); !strings.Contains(text, "600 requests in 1m, in 1 step. A step") {
		t.Errorf("the remark speaks of several steps:\n%s", text)
	}
}

// A series says the same in each of its formats.
func TestFormatsOfASeries(t *testing.T) {
	for name, text := range map[string]string{
		"RFC 3339":         "2026-11-28T10:00:00Z,10\n2026-11-28T10:01:00Z,20\n2026-11-28T10:02:00Z,20\n",
		"with names":       "\ufefftime,rate\r\n1795860000,10\r\n1795860060,20\r\n1795860120,20\r\n",
		"Grafana":          "\"Time\";\"Value\"\n\"2026-11-28 10:00:00\";10\n\"2026-11-28 10:01:00\";2e1\n\"2026-11-28 10:02:00\";20",
		"tabs and remarks": "# rates\n1795860000000\t10\n1795860060000\t20\n1795860120000\t20\n",
		"Prometheus":       `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[1795860000,"10"],[1795860060.000,"20"],[1795860120,"20"]]}]}}`,
		"promtool":         `[{"metric":{},"values":[[1795860000,"10"],[1795860060,"20"],[1795860120,"20"]]}]`,
	} {
		t.Run(name, func(t *testing.T) {
			_, manifest := accepted(t, follow(t, text, asItWas()), nil)
			golden.Check(t, "testdata/series.yaml", manifest)
		})
	}
}

func TestReadSeriesRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"nothing":           {"", "it has 0 points, and two at least are needed"},
		"a point":           {"0,1", "it has 1 point,"},
		"names alone":       {"time,rate\n", "it has 0 points"},
		"three columns":     {"0,1,2\n", "line 1 has 3 columns: there must be two columns, the time and then the rate"},
		"one column":        {"1\n2\n", "line 1 has 1 column:"},
		"NaN":               {"0,1\n1,NaN\n", `line 2: the rate "NaN" is no number of 0 or more`},
		"infinite":          {"0,1\n1,+Inf\n", "line 2: the rate +Inf is above 999999999"},
		"negative":          {"0,1\n1,-0.5\n", `line 2: the rate "-0.5" is no number of 0 or more`},
		"year 0":            {"0,1\n0000-01-01T00:00:00Z,1\n", "of the years 1970 to 2261"},
		"no time":           {"0,1\nnoon,1\n", `line 2: "noon": the time must be such as`},
		"swapped":           {"1,1795860000\n", "line 1: the rate 1795860000 is above 999999999: are the columns swapped?"},
		"swapped, RFC 3339": {"10,2026-11-28T10:00:00Z\n", `line 1: the rate "2026-11-28T10:00:00Z" is no number of 0 or more: there must be two columns, the time and then the rate`},
		"swapped seconds":   {"10,0\n20,60\n15,120\n", "line 3: the time 15 is not after the one before"},
		"twice":             {"0,1\n0,2\n", "line 2: the time 0 is not after the one before"},
		"two series":        {`[{"values":[]},{"values":[]}]`, "it has 2 series, and one is needed: ask for a sum"},
		"an error":          {`{"status":"error","error":"bad query"}`, "the answer of Prometheus is an error: bad query"},
		"an instant":        {`{"status":"success","data":{"resultType":"vector","result":[{"value":[1,"2"]}]}}`, "it has 0 points"},
		"other JSON":        {`{"data":[]}`, "not an answer of Prometheus to a range query"},
		"another array":     {`[1]`, "not what promtool query range -o json prints"},
		"numbers for texts": {`[{"values":[[1,2]]}]`, `value 0 is not [SECONDS, "RATE"]`},
		"too many":          {lines(100_001), "more than 100000 points: ask for the series with a longer step"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := draft.ReadSeries([]byte(tt.text))
			must.Say(t, err, tt.want)
		})
	}
}

func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d,1\n", i)
	}
	return b.String()
}

func TestFollowRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		text   string
		timing draft.Timing
		want   string
	}{
		"a window beside it": {"0,1\n1,1\n", draft.Timing{Speed: 1, Scale: 1, From: noon}, "--window has 0 points of the series, from 1970-01-01T00:00:00Z to 1970-01-01T00:00:01Z"},
		"two days":           {"0,1\n172800,1\n", *asItWas(), "it would take 48h, and a LoadTest takes at most 24h"},
		"centuries":          {"1970-01-01T00:00:00Z,1\n2261-01-01T00:00:00Z,1\n", *asItWas(), "and a LoadTest takes at most 24h"},
		"no load":            {"0,0\n60,0\n", *asItWas(), "less than one request would be sent in 1m"},
		"a moment":           {"0,1\n0.5,1\n", *asItWas(), "it would take 500ms, and a step takes a second"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := draft.ReadSeries([]byte(tt.text))
			must.Succeed(t, err)
			must.Say(t, draft.FromSeries().Follow(s, tt.timing), tt.want)
		})
	}
}

// A series with many points has at most 32 steps, which have its requests and its time.
func TestManyPointsAreFollowedByFewSteps(t *testing.T) {
	var text strings.Builder
	want := 0.0
	for i := range 1441 {
		rate := 100 - 90*math.Cos(2*math.Pi*float64(i)/720)
		fmt.Fprintf(&text, "%d,%f\n", 60*i, rate)
		if i < 1440 {
			want += 60 * rate
		}
	}
	d := follow(t, text.String(), asItWas())
	lt, manifest := accepted(t, d, nil)
	sum, length := due(t, d)
	if n := len(lt.Spec.Steps); n < 8 || n > 32 || math.Abs(sum/want-1) > .02 || length != 24*time.Hour {
		t.Errorf("%d steps send %.0f requests in %s, want %.0f", n, sum, length, want)
	}
	if !strings.Contains(manifest, "They are off by at most ") {
		t.Errorf("nothing says how far the steps are off:\n%s", manifest)
	}
}

// Rates of 0 are pauses, and what jumps has a step for each of its levels.
func TestRatesOfZeroArePauses(t *testing.T) {
	lt, manifest := accepted(t, follow(t, "0,0\n60,0\n61,50\n120,50\n121,0\n180,0\n", asItWas()), nil)
	var got []string
	for _, s := range lt.Spec.Steps {
		load := "pause"
		if s.Rate != nil {
			load = s.Rate.String()
		}
		got = append(got, s.Name+" "+load)
	}
	if want := "at 0s pause, at 1m 0.005, at 1m1s 50, at 2m 50, at 2m1s pause"; strings.Join(got, ", ") != want {
		t.Errorf("%s, want %s:\n%s", strings.Join(got, ", "), want, manifest)
	}
}

// Any series is refused, or makes steps that the API takes.
func FuzzSeries(f *testing.F) {
	for _, text := range []string{"0,1\n60,2\n", "time,rate\n2026-11-28T10:00:00Z,1\n2026-11-28T10:00:01Z,0", `[{"values":[[0,"1"],[60,"0.0000001"]]}]`, "0,999999999\n1,0\n2,1e-300", "\"", "a;b\n1;2"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := draft.ReadSeries([]byte(text))
		if err != nil {
			return
		}
		d := draft.FromSeries()
		if d.Follow(s, *asItWas()) == nil {
			d.Service = "shop"
			accepted(t, d, nil)
		}
	})
}
