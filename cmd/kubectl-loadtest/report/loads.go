package report

import (
	"fmt"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// LoadHeads are the heads of the columns of Loads.
var LoadHeads = []string{"load", "verdict", "began after", "due", "sent", "unsent", "failed", "p50", "p95", "p99"}

// LoadsNote says what the rows of Loads are about.
const LoadsNote = "all steps of each, warm-ups left out; a load that is ended was ended with the run"

// Loads are the loads of a run that sends several side by side, and the last row all of them together; it names
// what it lacks.
// There are none without spec.loads.
func Loads(s *v1beta1.LoadTestStatus) (rows [][]string) {
	for i := range s.Loads {
		l := &s.Loads[i]
		began := unknown
		if l.BeginTime != nil && s.StartTime != nil {
			began = text.Short(l.BeginTime.Sub(s.StartTime.Time))
		}
		rows = append(rows, append([]string{l.Name, loadState(l), began}, resultCells(l.Result)...))
	}
	if s.Together != nil {
		name := "together"
		if lacking := s.LackingLoads(); len(lacking) > 0 {
			name += " without " + strings.Join(lacking, ", ")
		}
		rows = append(rows, append([]string{name, known(string(s.Verdict)), unknown}, resultCells(s.Together)...))
	}
	return rows
}

// loadState is the verdict of a load, or how far it is.
func loadState(l *v1beta1.LoadStatus) string {
	switch {
	case EndedByRun(l):
		return "ended"
	case l.Verdict != "":
		return string(l.Verdict)
	}
	return known(string(l.Phase))
}

// EndedByRun says whether the run ended a load, of which only a breach counts then.
func EndedByRun(l *v1beta1.LoadStatus) bool { return l.Ended && l.Verdict != v1beta1.VerdictFailed }

// LoadOf is the load that a LoadTest carries out for the one that sends several.
func LoadOf(lt *v1beta1.LoadTest, test string) *v1beta1.LoadStatus {
	for i := range lt.Status.Loads {
		if l := &lt.Status.Loads[i]; l.Test == test {
			return l
		}
	}
	return &v1beta1.LoadStatus{Name: test}
}

// LoadTitle is the heading of the report of a load. Where the run ended the load, it says so: the load's own
// verdict lacks what was not sent.
func LoadTitle(lt *v1beta1.LoadTest, test string) string {
	l := LoadOf(lt, test)
	title := "Load " + l.Name + " of " + lt.Name
	if EndedByRun(l) {
		title += ", which ended it"
	}
	return title
}

// resultCells are the figures of a row.
func resultCells(r *v1beta1.LoadResult) []string {
	if r == nil {
		return []string{unknown, unknown, unknown, unknown, unknown, unknown, unknown}
	}
	cells := []string{fmt.Sprint(r.Due), fmt.Sprint(r.Sent), known(text.Percent(r.Unsent, r.Due)), known(text.Percent(r.Failed-r.Undecided, r.Sent)), unknown, unknown, unknown}
	if t := r.ResponseTime; t != nil {
		cells[4], cells[5], cells[6] = Brief(t.P50), Brief(t.P95), Brief(t.P99)
	}
	return cells
}

// LoadTests are the LoadTests that carry out loads, which have the results by step and request.
func LoadTests(s *v1beta1.LoadTestStatus) (names []string) {
	for i := range s.Loads {
		names = append(names, s.Loads[i].Test)
	}
	return names
}

func (p *page) loads() {
	rows := Loads(&p.lt.Status)
	if len(rows) == 0 {
		return
	}
	p.line("")
	p.line("Loads (%s)", LoadsNote)
	p.table(LoadHeads, rows)
	p.line("")
	p.row("Steps and requests", "are in LoadTests %s", strings.Join(LoadTests(&p.lt.Status), ", "))
}
