package html

import (
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
)

const unknown = "–"

func known(text string) string {
	if text == "" {
		return unknown
	}
	return text
}

// count is a number of requests, its digits in groups: 1,234,567.
func count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

func duration(d *metav1.Duration) string {
	if d == nil {
		return unknown
	}
	return spaced(d.Duration)
}

func rungs(s *v1beta1.LoadTestStatus) table {
	list, steps := report.Bracketed(s, duration), measured(s.Steps)
	t := table{Title: "Steps", Heads: report.RungHeads, Words: 1, Note: inParentheses(report.AnyBracketed(list))}
	for i, r := range list {
		of := steps[i].Result
		r.Due, r.Sent = count(of.Due), count(of.Sent)
		r.P50, r.P95, r.P99 = twoLines(r.P50), twoLines(r.P95), twoLines(r.P99)
		t.Rows = append(t.Rows, r.Cells())
	}
	return t
}

// course is what no quantile shows: what piled up, for how long the target was down, and of
// how many requests it is not known what became of them, or whether they were the load.
func course(list []v1beta1.StepStatus) table {
	t := table{Title: "Outstanding requests and downtime", Note: "Outstanding requests are due and have not ended. A target is down while requests are outstanding and none is answered, or while users wait for answers that do not come.", Words: 1,
		Heads: []string{"step", "outstanding, mean", "trend", "growth", "downtime", "displaced", "undecided"}}
	for _, step := range measured(list) {
		r := step.Result
		if r.Outstanding == nil && r.Downtime == "" {
			continue
		}
		o := r.Outstanding
		if o == nil {
			o = &v1beta1.OutstandingResult{Trend: v1beta1.OutstandingUnknown}
		}
		trend := map[v1beta1.OutstandingTrend]string{
			v1beta1.OutstandingSteady: "steady", v1beta1.OutstandingGrowing: "growing", v1beta1.OutstandingUncertain: "uncertain",
		}[o.Trend]
		t.Rows = append(t.Rows, []string{report.Title(step), known(o.Mean), known(trend), known(report.Growth(o)), known(r.Downtime), count(r.Displaced), count(r.Undecided)})
	}
	return t
}

func audits(lt *v1beta1.LoadTest) table {
	t := table{Title: "Rate limit check", Note: report.Contract(lt), Words: 1,
		Heads: []string{"step", "clients", "granted", "denied", "over-limit grants", "false denials", "not audited"}}
	for _, step := range measured(lt.Status.Steps) {
		if a := step.Result.RateLimit; a != nil {
			t.Rows = append(t.Rows, []string{report.Title(step), count(a.Clients), count(a.Granted), count(a.Denied),
				count(a.OverLimitGrants), count(a.FalseDenials), count(a.Untracked)})
		}
	}
	return t
}

// stored are the audits of what the target reports of itself.
func stored(s *v1beta1.LoadTestStatus) table {
	t := table{Title: "Audits", Note: "What the target stored, against what it acknowledged.", Words: 3,
		Heads: []string{"audit", "state", "result", "before", "after", "change", "acknowledged", "unknown"}}
	results := report.AuditResults(s)
	for i, a := range s.Audits {
		t.Rows = append(t.Rows, []string{a.Name, string(a.State), results[i], optional(a.Before), optional(a.After), optional(a.Change),
			count(a.Acknowledged), optional(a.Unknown)})
	}
	return t
}

func optional(n *int64) string {
	if n == nil {
		return unknown
	}
	return count(*n)
}

func types(list []v1beta1.StepStatus) table {
	t := table{Title: "By type of request", Words: 2, Heads: []string{"step", "type", "sent", "expected", "failed", "p50", "p95", "p99"}}
	for _, step := range measured(list) {
		for i := range step.Result.Types {
			of := &step.Result.Types[i]
			l := of.ResponseTime
			if l == nil {
				l = &v1beta1.Latency{}
			}
			t.Rows = append(t.Rows, []string{report.Title(step), of.Name, count(of.Sent), count(of.Expected), count(of.Failed),
				duration(l.P50), duration(l.P95), duration(l.P99)})
		}
	}
	return t
}

// streams has the steps in which responses came in parts.
func streams(list []v1beta1.StepStatus) table {
	t := table{Title: "Streams", Note: strings.ToUpper(report.StreamNote[:1]) + report.StreamNote[1:] + ".", Words: 2, Heads: append([]string{"step"}, report.StreamHeads...)}
	for _, step := range measured(list) {
		for _, row := range report.Streams(step.Result) {
			t.Rows = append(t.Rows, append([]string{report.Title(step)}, row...))
		}
	}
	return t
}

func journeys(list []v1beta1.StepStatus) table {
	t := table{Title: "Journeys", Note: "Times of completed journeys, from when the first request was due.", Words: 2,
		Heads: append([]string{"step"}, report.JourneyHeads...)}
	for _, step := range measured(list) {
		for _, row := range report.Journeys(step.Result) {
			t.Rows = append(t.Rows, append([]string{report.Title(step)}, row...))
		}
	}
	return t
}

// replayed has what became of the lines of a log.
func replayed(list []v1beta1.StepStatus) table {
	t := table{Title: "Log", Note: "Lines that were read, and those that were left out of them; all others were due.", Words: 1, Heads: append([]string{"step"}, report.LogHeads...)}
	for _, step := range measured(list) {
		if row := report.Log(step.Result); row != nil {
			t.Rows = append(t.Rows, append([]string{report.Title(step)}, row...))
		}
	}
	return t
}

func codes(list []v1beta1.StepStatus) table {
	t := table{Title: "Status codes", Words: 2, Heads: []string{"step", "responses by code"}}
	for _, step := range measured(list) {
		if text := report.StatusCodes(&step.Result.Counts); text != "" {
			t.Rows = append(t.Rows, []string{report.Title(step), text})
		}
	}
	return t
}

func traces(list []v1beta1.StepStatus) table {
	t := table{Title: "Traces", Note: report.TraceNote, Words: 5, Heads: append([]string{"step"}, report.TraceHeads...)}
	for _, step := range measured(list) {
		for _, row := range report.Traces(step.Result) {
			t.Rows = append(t.Rows, append([]string{report.Title(step)}, row...))
		}
	}
	return t
}

func spread(lt *v1beta1.LoadTest) table {
	return table{Title: "Spread over repetitions", Note: "Each the median, and the least to the greatest.", Words: 1,
		Heads: report.SpreadHeads, Rows: report.Spread(lt)}
}

// sides has what was measured of both targets of a run.
func sides(lt *v1beta1.LoadTest) table {
	heads, rows := report.Sides(lt)
	return table{Title: "Both targets", Note: strings.ToUpper(report.SidesNote[:1]) + report.SidesNote[1:] + ".", Words: 2, Heads: heads, Rows: rows}
}

func generator(list []v1beta1.StepStatus) table {
	t := table{Title: "Generator", Note: "How the load generator itself did. Thresholds are judged with and without its own delay.", Words: 2,
		Heads: []string{"step", "state", "sent late p99", "sent late max", "read late p99", "throttled", "waited for CPU", "connections", "requests on them again"}}
	for _, step := range measured(list) {
		if g := step.Result.Generator; g != nil {
			t.Rows = append(t.Rows, []string{report.Title(step), report.Healthy(g), duration(g.SendLatenessP99), duration(g.SendLatenessMax),
				duration(g.ReadLatenessP99), known(g.CPUThrottled), known(g.RunQueueWait), count(g.ConnectionsOpened), count(g.ConnectionsReused)})
		}
	}
	return t
}

// handshakes has the steps that had any.
func handshakes(list []v1beta1.StepStatus) table {
	t := table{Title: "TLS handshakes", Note: "The handshakes of connections that are opened within the window are part of the time of requests.", Words: 1,
		Heads: []string{"step", "handshakes", "resumed", "p50", "p99", "connections", "opened within the window"}}
	for _, step := range measured(list) {
		if g := step.Result.Generator; g != nil && g.Handshakes > 0 {
			t.Rows = append(t.Rows, []string{report.Title(step), count(g.Handshakes), count(g.ResumedHandshakes), duration(g.HandshakeP50), duration(g.HandshakeP99),
				count(g.ConnectionsOpened), count(g.OpenedInWindow)})
		}
	}
	return t
}

func conditions(s *v1beta1.LoadTestStatus) table {
	t := table{Title: "Conditions", Words: 4, Heads: []string{"condition", "status", "reason", "message"}}
	messages := report.ConditionMessages(s)
	for i, c := range s.Conditions {
		t.Rows = append(t.Rows, []string{c.Type, string(c.Status), c.Reason, messages[i]})
	}
	return t
}
