package html

import (
	"slices"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/links"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
)

// Linked is Report with links by templates; nil: with none.
func Linked(to *links.Templates) func(*v1beta1.LoadTest, []*archive.Step, ...*v1beta1.LoadTest) ([]byte, error) {
	return func(lt *v1beta1.LoadTest, archived []*archive.Step, loads ...*v1beta1.LoadTest) ([]byte, error) {
		return linkedReport(lt, archived, loads, to)
	}
}

// link adds links from the run, and from the traces in all tables that have some.
func (v *view) link(lt *v1beta1.LoadTest, to *links.Templates) {
	if to == nil {
		return
	}
	now := time.Now() // what has not ended is linked up to now
	v.Links = to.Run(lt, now)
	for _, g := range v.Groups {
		for i := range g.Tables {
			g.Tables[i].link(lt, to, now)
		}
	}
}

func (t *table) link(lt *v1beta1.LoadTest, to *links.Templates, now time.Time) {
	column := slices.Index(t.Heads, "trace")
	if column < 0 || to.TraceURL == "" {
		return
	}
	t.traced = map[string]string{}
	for _, row := range t.Rows {
		t.traced[row[column]] = to.Trace(lt, row[column], now)
	}
}

// Trace is where the trace is whose id a cell has; empty: it has none, or it is not known.
func (t table) Trace(cell string) string { return t.traced[cell] }
