package outcome

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// The names of the runs that are judged.
const (
	racy    = "hash"
	atomic  = "lua"
	burst   = "single-client-burst"
	perEach = 3 // scenarios for each strategy
)

// Result is what came out of one run.
type Result struct {
	Strategy, Scenario string
	// Audited says that the limiter was audited at all.
	Audited bool
	// The sums over all steps.
	Granted, Denied, OverLimitGrants, FalseDenials int64
	// P95 and Skew are those of the worst step; 0: not known.
	P95, Skew time.Duration
	Verdict   v1beta1.Verdict
}

// Of reads the result of a run against a strategy.
func Of(strategy string, lt *v1beta1.LoadTest) Result {
	r := Result{Strategy: strategy, Scenario: lt.Name, Verdict: lt.Status.Verdict}
	for i := range lt.Status.Steps {
		step := &lt.Status.Steps[i]
		if step.StartSkew != nil {
			r.Skew = max(r.Skew, step.StartSkew.Duration)
		}
		if step.Result == nil {
			continue
		}
		if l := step.Result.ResponseTime; l != nil && l.P95 != nil {
			r.P95 = max(r.P95, l.P95.Duration)
		}
		if a := step.Result.RateLimit; a != nil {
			r.Audited = true
			r.Granted += a.Granted
			r.Denied += a.Denied
			r.OverLimitGrants += a.OverLimitGrants
			r.FalseDenials += a.FalseDenials
		}
	}
	return r
}

// Table shows the results, a line for each.
func Table(list []Result) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(w, "STRATEGY\tSCENARIO\tGRANTED\tDENIED\tOVER-LIMIT GRANTS\tFALSE DENIALS\tP95\tSTART SKEW\tVERDICT")
	for _, r := range list {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Strategy, r.Scenario,
			r.count(r.Granted), r.count(r.Denied), r.count(r.OverLimitGrants), r.count(r.FalseDenials),
			known(r.P95), known(r.Skew), r.verdict())
	}
	_ = w.Flush() // a Builder takes everything
	return b.String()
}

func (r Result) count(n int64) string {
	if !r.Audited {
		return "-"
	}
	return fmt.Sprint(n)
}

func known(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return text.Short(d)
}

func (r Result) verdict() string {
	if r.Verdict == "" {
		return "none"
	}
	return string(r.Verdict)
}

// Judge returns the outcome of the runs in a sentence, and whether it is as
// expected. What the hash does in the other scenarios depends on luck.
func Judge(list []Result) (sentence string, ok bool) {
	passed := 0
	raced := Result{Verdict: "not run"}
	for _, r := range list {
		switch {
		case r.Strategy == atomic && r.Verdict == v1beta1.VerdictPassed:
			passed++
		case r.Strategy == racy && r.Scenario == burst:
			raced = r
		}
	}
	sentence = fmt.Sprintf("%s Passed %d of %d; %s %s %s with %d over-limit grants",
		atomic, passed, perEach, racy, raced.verdict(), burst, raced.OverLimitGrants)
	return sentence, passed == perEach && raced.Verdict == v1beta1.VerdictFailed && raced.OverLimitGrants > 0
}
