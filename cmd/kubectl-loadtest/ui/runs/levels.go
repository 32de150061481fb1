package runs

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/changepoint"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// LevelChange is a run from which on a metric of its family has another level.
type LevelChange struct {
	// Metric is p95 or sustained.
	Metric string `json:"metric"`
	// Run is the first of the new level.
	Run     string    `json:"run"`
	Created time.Time `json:"created"`
	// Before and After are the medians of both levels, and Change is in percent.
	Before string  `json:"before"`
	After  string  `json:"after"`
	Change float64 `json:"changePercent"`
}

// String is a sentence about it.
func (c LevelChange) String() string {
	return fmt.Sprintf("%s has another level since %s (%s): %s instead of %s, %+.0f %%.", c.Metric, c.Run, c.Created.UTC().Format("2006-01-02 15:04"), c.After, c.Before, c.Change)
}

// leveled is a metric whose level is looked at; the value is 0 where it is not known.
type leveled struct {
	name  string
	value func(*Run) float64
	text  func(value float64, unit string) string
}

var watched = []leveled{
	{"sustained", func(r *Run) float64 { return r.Load }, func(v float64, unit string) string {
		if unit == "users" {
			return fmt.Sprintf("%.4g users", v)
		}
		return fmt.Sprintf("%.4g%s", v, unit)
	}},
	{"p95", func(r *Run) float64 { return r.Late.Seconds() }, func(v float64, _ string) string {
		return text.Short(time.Duration(v * float64(time.Second)))
	}},
}

// LevelChanges are those of a family, the oldest run first. Runs that do not say how their target is
// count for nothing: those that ended as Error, Canceled or Inconclusive.
func LevelChanges(family []*Run) []LevelChange {
	var list []LevelChange
	for _, m := range watched {
		counted, values := m.of(family)
		for _, c := range changepoint.Of(values) {
			first := counted[c.At]
			list = append(list, LevelChange{
				Metric: m.name, Run: first.Name, Created: first.Created,
				Before: m.text(c.Before, first.Unit), After: m.text(c.After, first.Unit), Change: math.Round(1000*(c.Ratio()-1)) / 10,
			})
		}
	}
	return list
}

// LeastRuns is how many runs it takes to tell a change of a level.
const LeastRuns = 2 * changepoint.LeastRuns

// HaveLevels says whether so many runs of a family have a metric whose level is looked at.
func HaveLevels(family []*Run) bool {
	return slices.ContainsFunc(watched, func(m leveled) bool {
		counted, _ := m.of(family)
		return len(counted) >= LeastRuns
	})
}

// of are the runs of a family that count, and their values.
func (m leveled) of(family []*Run) (counted []*Run, values []float64) {
	unit := unitOf(family)
	for _, r := range family {
		if v := m.value(r); v > 0 && says(r) && (m.name != "sustained" || r.Unit == unit) {
			counted, values = append(counted, r), append(values, v)
		}
	}
	return counted, values
}

func says(r *Run) bool {
	return r.Finished && (r.Verdict == string(v1beta1.VerdictPassed) || r.Verdict == string(v1beta1.VerdictFailed))
}

// unitOf is that of the newest run: a schedule may have changed from users to a rate.
func unitOf(family []*Run) (unit string) {
	for _, r := range family {
		if r.Load > 0 {
			unit = r.Unit
		}
	}
	return unit
}
