package decision

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/changepoint"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/statistics"
)

const (
	// mostHistory is how many LoadTests a status has figures of, and a pass reads at most: what is older
	// than the history is not read later. mostChanges is how many changes of a level a status has.
	mostHistory, mostChanges = 60, 8
)

// Measured is what the status keeps of a LoadTest that has finished.
type Measured struct {
	Trend   string
	Figures v1beta1.FiguresOfRun
}

// Measure reads what the status keeps of a LoadTest that has finished, whole.
func Measure(lt *v1beta1.LoadTest) *Measured {
	m := &Measured{Trend: Trend(lt), Figures: v1beta1.FiguresOfRun{Name: lt.Name}}
	if lt.Status.CompletionTime != nil {
		m.Figures.CompletionTime = *lt.Status.CompletionTime
	}
	if all := rungsOf(lt); len(all) > 0 {
		if values := measured(&all[len(all)-1], "p99"); len(values) > 0 {
			m.Figures.P99 = metric.Text("p99", statistics.Middle(values))
		}
	}
	switch s := &lt.Status; {
	case s.MaxSustainedUsers != nil:
		m.Figures.Sustained = fmt.Sprint(*s.MaxSustainedUsers) + unitUsers
	case s.MaxSustainedRate != "":
		m.Figures.Sustained = s.MaxSustainedRate + unitRate
	}
	return m
}

// The units of what was sustained.
const unitUsers, unitRate = " users", "/s"

// Unread are the LoadTests of which the status does not have what it keeps, the oldest first.
func Unread(s *v1beta1.LoadTestSchedule, runs []LoadTest) []string {
	var names []string
	newest := finishedSince(&s.Status, runs)
	for _, r := range newestFirst(finished(runs)) {
		if newest != nil && r.Name == newest.Name || isNew(&s.Status, s.Status.History, &r) {
			names = append(names, r.Name)
		}
	}
	names = names[:min(len(names), mostHistory)]
	slices.Reverse(names)
	return names
}

// isNew says whether a LoadTest belongs into a history and is later than all of it, or has finished since the
// status was written: by a clock that was set back, it is not later.
func isNew(known *v1beta1.LoadTestScheduleStatus, history []v1beta1.FiguresOfRun, r *LoadTest) bool {
	if r.Verdict != v1beta1.VerdictPassed && r.Verdict != v1beta1.VerdictFailed {
		return false
	}
	if len(history) == 0 {
		return true
	}
	last := history[len(history)-1].CompletionTime
	return (!r.Completed.Before(last.Time) || isSince(known, r)) && !slices.ContainsFunc(history, func(f v1beta1.FiguresOfRun) bool { return f.Name == r.Name })
}

// describeLevels adds what was measured to the history, and says which LoadTests changed a level.
func (d *decision) describeLevels() {
	s := &d.out.Status
	grown := 0
	for _, name := range Unread(d.LoadTestSchedule, d.seen.Runs) {
		i := slices.IndexFunc(d.seen.Runs, func(r LoadTest) bool { return r.Name == name })
		if m := d.seen.Measured[name]; m != nil && isNew(&d.Status, s.History, &d.seen.Runs[i]) {
			s.History, grown = append(s.History, m.Figures), grown+1
		}
	}
	if grown == 0 {
		return
	}
	s.History = s.History[max(0, len(s.History)-mostHistory):]
	known, said := s.LevelChanges, saidOf(s.History[:max(0, len(s.History)-grown)])
	s.LevelChanges, s.Summary.Level = nil, ""
	for _, c := range levelChanges(s.History) {
		const percent = 100
		by := fmt.Sprintf("%+d%%", int(math.Round(percent*(c.ratio-1))))
		s.LevelChanges = append(s.LevelChanges, c.LevelChange)
		s.Summary.Level = fmt.Sprintf("%s %s since %s", c.Metric, by, c.Run)
		isKnown := slices.ContainsFunc(known, func(k v1beta1.LevelChange) bool { return k.Metric == c.Metric && k.Run == c.Run })
		if !isKnown && !slices.ContainsFunc(said, c.isTheSame) {
			d.event("LevelChanged", "%s has another level since LoadTest %s: %s instead of %s, %s.", c.Metric, c.Run, c.To, c.From, by)
		}
	}
}

// levelChange is one with what the new level is of the one before, and where in the history it begins.
type levelChange struct {
	v1beta1.LevelChange
	ratio float64
	at    int
}

// isTheSame says whether two are one change, whose beginning moved: a level has so many LoadTests at least that
// another change in the same direction begins later.
func (c levelChange) isTheSame(other levelChange) bool {
	apart := max(c.at, other.at) - min(c.at, other.at)
	return c.Metric == other.Metric && (c.ratio > 1) == (other.ratio > 1) && apart < changepoint.LeastRuns
}

// saidOf are all changes that a history has had while it grew: of a noisy one, a change comes and goes, and its
// beginning moves, before it stays.
func saidOf(history []v1beta1.FiguresOfRun) (said []levelChange) {
	for n := 2 * changepoint.LeastRuns; n <= len(history); n++ {
		said = append(said, levelChanges(history[:n])...)
	}
	return said
}

// levelChanges are the latest of a history, the oldest first.
func levelChanges(history []v1beta1.FiguresOfRun) []levelChange {
	var list []levelChange
	for _, name := range []v1beta1.LevelMetric{v1beta1.LevelSustained, v1beta1.LevelP99} {
		var of []int
		var values []float64
		unit := unitOf(history)
		for i := range history {
			if v := valueOf(name, &history[i], unit); v > 0 {
				of, values = append(of, i), append(values, v)
			}
		}
		for _, c := range changepoint.Of(values) {
			if len(of)-c.At <= changepoint.LeastRuns {
				continue // where two of three have the new level, the next may move its beginning
			}
			first := &history[of[c.At]]
			list = append(list, levelChange{v1beta1.LevelChange{
				Metric: name, Run: first.Name, Time: first.CompletionTime, From: levelText(name, c.Before, unit), To: levelText(name, c.After, unit),
			}, c.Ratio(), of[c.At]})
		}
	}
	slices.SortStableFunc(list, func(a, b levelChange) int { return cmp.Compare(a.Time.Unix(), b.Time.Unix()) })
	return list[max(0, len(list)-mostChanges):]
}

// unitOf is the unit of what was sustained last: a template may have changed from users to a rate.
func unitOf(history []v1beta1.FiguresOfRun) string {
	unit := ""
	for _, f := range history {
		switch {
		case strings.HasSuffix(f.Sustained, unitUsers):
			unit = unitUsers
		case f.Sustained != "":
			unit = unitRate
		}
	}
	return unit
}

// valueOf is a metric of a LoadTest, of what was sustained in a unit; 0: it is not known.
func valueOf(name v1beta1.LevelMetric, f *v1beta1.FiguresOfRun, unit string) float64 {
	if name == v1beta1.LevelP99 {
		if v, err := metric.Parse("p99", f.P99); err == nil {
			value, _ := v.Float64()
			return value
		}
		return 0
	}
	number, ok := strings.CutSuffix(f.Sustained, unit)
	value, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || math.IsInf(value, 0) {
		return 0
	}
	return value
}

// levelText is a level as a value.
func levelText(name v1beta1.LevelMetric, value float64, unit string) string {
	exact := new(big.Rat).SetFloat64(value)
	if name == v1beta1.LevelP99 && exact != nil {
		return metric.Of("p99").Unit.Short(exact)
	}
	return strconv.FormatFloat(math.Round(10*value)/10, 'f', -1, 64) + unit // the median of two may have any number of digits
}
