package report

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

func (p *page) step(i int) {
	step := &p.lt.Status.Steps[i]
	p.line("")
	p.line("%s", strings.Join(p.stepHead(step), " · "))
	p.shortfall(step)
	if step.Result != nil {
		p.line("")
		p.result(step.Result)
		p.traces(step.Result)
	}
}

// shortfall is what a step lacks of its plan, and its result of what was sent.
func (p *page) shortfall(step *v1beta1.StepStatus) {
	if step.Message == "" && step.MissingAtMost == nil {
		return
	}
	p.line("")
	if step.Message != "" {
		p.row("Not as planned", "%s", step.Message)
	}
	if most := step.MissingAtMost; most != nil {
		p.row("Missing", "at most %s", text.Plural(*most, "request"))
	}
}

// schedule is when a load's requests are due, beyond its title.
func schedule(load *v1beta1.StepLoad) []string {
	var list []string
	switch {
	case load.RatePerUser != nil && load.RampTo != nil:
		list = append(list, "up to "+text.Rate(totalRate(load)))
	case load.RatePerUser != nil:
		list = append(list, text.Rate(totalRate(load)))
	}
	switch shortest, longest := load.Think.Range(); {
	case shortest != longest:
		list = append(list, "think time "+text.Whole(shortest)+" to "+text.Whole(longest))
	case longest > 0:
		list = append(list, "think time "+text.Whole(longest))
	}
	if load.Arrivals == v1beta1.ArrivalsPoisson {
		list = append(list, "Poisson")
	}
	return list
}

// stepHead is a step in a line: its load, duration, workers and start.
func (p *page) stepHead(step *v1beta1.StepStatus) []string {
	load, head := &step.Load, []string{Title(step)}
	if step.Repetition > 0 {
		head = append(head, p.repetition(step.Repetition))
	}
	head = append(head, schedule(load)...)
	if step.Window != nil && !load.IsPause() {
		head = append(head, text.Short(step.Window.Duration))
	}
	if warmUp, ok := duration(load.WarmUp); ok {
		head = append(head, "after "+text.Short(warmUp)+" of warm-up")
	}
	switch step.State {
	case v1beta1.StepPending:
		return append(head, "not begun")
	case v1beta1.StepSkipped:
		return append(head, "skipped")
	case v1beta1.StepRunning:
		head = append(head, "running")
	case v1beta1.StepCut:
		head = append(head, "cut short")
	}
	if step.WorkersReporting > 0 {
		head = append(head, p.reporting(step))
	}
	if started := started(step); started != "" {
		head = append(head, started)
	}
	return head
}

// Title names a step by what it does, with the user's name for it, if any, in
// front: "1000 users", "burst: 50 users x 4", "pause 1s". The number of a step that
// comes more than once stays: "1000 users (2)".
func Title(step *v1beta1.StepStatus) string {
	name, load := step.Name, describe(&step.Load)
	given, number := numbered(name)
	if i := strings.LastIndex(given, " on "); i > 0 && step.Side == v1beta1.SideControl {
		given, number = given[:i], given[i:]+number
	}
	switch {
	case load == "":
		return name
	case name == load, given == load:
		return name
	case step.Load.Sessions != nil && load == strings.Replace(given, "/s", " sessions/s", 1):
		return load + number
	case given == strconv.Itoa(int(step.Load.Users)):
		return load + number
	}
	return name + ": " + load
}

// numbered divides a name that package plan has numbered: "1000" and " (2)".
func numbered(name string) (given, number string) {
	i := strings.LastIndex(name, " (")
	if i < 0 {
		return name, ""
	}
	digits := strings.TrimSuffix(name[i+len(" ("):], ")")
	if _, err := strconv.ParseUint(digits, 10, 32); err != nil {
		return name, ""
	}
	return name[:i], name[i:]
}

// describe is a load in a few words.
func describe(l *v1beta1.StepLoad) string {
	switch {
	case l.IsPause():
		return "pause " + text.Short(l.Pause.Duration)
	case l.IsBurst():
		return fmt.Sprintf("%d users x %d", l.Users, l.RequestsPerUser)
	case l.Users > 0 && l.RampTo != nil:
		return fmt.Sprintf("%d to %d users", l.Users, l.LastUsers())
	case l.Users > 0:
		return fmt.Sprintf("%d users", l.Users)
	case l.RampTo != nil:
		return perSecond(*l.Rate, nil) + " to " + perSecond(*l.RampTo, l.Sessions)
	case l.Rate != nil:
		return perSecond(*l.Rate, l.Sessions)
	case l.IsReplay():
		return "a log at speed " + text.Decimal(l.Speed.String())
	}
	return ""
}

// perSecond is a rate, written as briefly as it can be: "0.25/s", or of sessions "0.25 sessions/s".
func perSecond(rate v1beta1.Decimal, sessions *int64) string {
	if sessions != nil {
		return text.Decimal(rate.String()) + " sessions/s"
	}
	return text.Decimal(rate.String()) + "/s"
}

// totalRate is the rate of all users together, on a ramp when they are most, "" if it is
// none.
func totalRate(l *v1beta1.StepLoad) string {
	each, ok := new(big.Rat).SetString(l.RatePerUser.String())
	if !ok {
		return ""
	}
	return each.Mul(each, big.NewRat(int64(l.MostUsers()), 1)).FloatString(3)
}

func (p *page) reporting(step *v1beta1.StepStatus) string {
	said := text.Plural(int64(step.WorkersReporting), "worker")
	if step.WorkersReporting < p.lt.Status.Workers.Desired {
		said = fmt.Sprintf("%d of %s reported", step.WorkersReporting, text.Plural(int64(p.lt.Status.Workers.Desired), "worker"))
	}
	// Of a step that is whole it says nothing: that is when the last response came.
	whole := step.State == v1beta1.StepComplete && step.WorkersReporting >= p.lt.Status.Workers.Desired
	if step.ReportedUntil != nil && !whole {
		said += " until " + text.Clock(step.ReportedUntil.Time)
	}
	return said
}

func started(step *v1beta1.StepStatus) string {
	if step.StartTime == nil {
		return ""
	}
	said := "started " + text.Clock(step.StartTime.Time)
	if step.StartSkew != nil {
		said += ", skew " + text.Short(step.StartSkew.Duration)
	}
	return said
}

// withoutRoom is why hits were unsent, if it was not the generator.
func withoutRoom(r *v1beta1.StepResult) string {
	if r.UnsentWithoutRoom == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d found no room on connections)", r.UnsentWithoutRoom)
}

// sessions are those of a rate, if there are any.
func (p *page) sessions(s *v1beta1.SessionsResult) {
	if s != nil {
		p.row("Sessions", "due %d · started %d%s · never started %d", s.Due, s.Started, share(s.Started, s.Due), s.Due-s.Started)
	}
}

// LogHeads are the heads of what Log returns, behind the step's.
var LogHeads = []string{"lines", "not parsed", "other methods", "not routed", "out of order", "outside of the window", "first mistake"}

// Log is what became of the lines of a log that a step replayed; nil: it replayed none.
func Log(r *v1beta1.StepResult) []string {
	if r.Replay == nil {
		return nil
	}
	l := r.Replay
	return []string{fmt.Sprint(l.Lines), fmt.Sprint(l.NotParsed), fmt.Sprint(l.OtherMethods), fmt.Sprint(l.NotRouted), fmt.Sprint(l.OutOfOrder), fmt.Sprint(l.OutsideWindow), known(l.Mistake)}
}

// replay is what became of the lines of a log, if there is one.
func (p *page) replay(r *v1beta1.ReplayResult) {
	if r == nil {
		return
	}
	said := []string{fmt.Sprintf("%s read", text.Plural(r.Lines, "line"))}
	for _, left := range []struct {
		n   int64
		why string
	}{
		{r.NotParsed, "not parsed"}, {r.OtherMethods, "with other methods"}, {r.NotRouted, "not routed"},
		{r.OutOfOrder, "out of order"}, {r.OutsideWindow, "outside of the window"},
	} {
		if left.n > 0 {
			said = append(said, fmt.Sprintf("%d %s", left.n, left.why))
		}
	}
	p.row("Log", "%s", strings.Join(said, " · "))
	if r.Mistake != "" {
		p.row("", "%s", r.Mistake)
	}
}

func (p *page) result(r *v1beta1.StepResult) {
	p.row("Requests", "due %d · sent %d%s · unsent %d%s · late %d%s%s%s", r.Due, r.Sent, share(r.Sent, r.Due), r.Unsent, withoutRoom(r), r.Late, displaced(r), Redirects(r), inFlight(r))
	p.sessions(r.Sessions)
	p.replay(r.Replay)
	ended := r.Sent - r.InFlight
	p.row("Successful", "%d%s", r.Outcomes.Success, share(r.Outcomes.Success, ended))
	if n := r.Outcomes.RateLimited; n > 0 {
		p.row("Rate limited", "%d%s%s%s", n, share(n, ended), limitedBy(&r.Counts), asExpected(&r.Counts))
	}
	p.row("Failed", "%d%s%s", r.Failed, share(r.Failed, ended), notCertain(r))
	if text := Downtime(r); text != "" {
		p.row("Downtime", "%s of the window", text)
	}
	p.onTime(r)
	if r.Throughput != "" {
		p.row("Throughput", "%s req/s    goodput %s req/s%s", tenths(r.Throughput), tenths(r.Goodput), items(r))
	}
	if text := Outstanding(r.Outstanding); text != "" {
		p.row("Outstanding", "%s", text)
	}
	p.line("")
	p.row("Failures", "%s", failures(&r.Counts))
	if len(r.Requests) == 1 {
		p.requests(r)
	}
	if codes := StatusCodes(&r.Counts); codes != "" {
		p.row("Status codes", "%s", codes)
	}
	label := "By type"
	for i := range r.Types {
		p.row(label, "%s", ofType(&r.Types[i]))
		label = ""
	}
	label = "Journeys"
	for i := range r.Journeys {
		p.row(label, "%s", ofJourney(&r.Journeys[i]))
		label = ""
	}
	if r.Transport != "" {
		p.row("Transport", "%s", driven(r))
	}
	p.generator(r.Generator)
	if len(r.Requests) != 1 {
		p.requests(r)
	}
	p.streams(r)
	if r.RateLimit != nil {
		p.line("")
		p.rateLimit(r.RateLimit)
	}
	if r.ResponseTime != nil {
		p.line("")
		p.latency("Latency", r.ResponseTime, r.ServiceTime, r.WithoutGenerator)
	}
	if r.ExpectedResponseTime != nil {
		p.line("")
		p.latency("Of expected", r.ExpectedResponseTime, r.ExpectedServiceTime, r.ExpectedWithoutGenerator)
	}
}

// onTime is how many requests, and how many streams, kept the goals of thresholds.
func (p *page) onTime(r *v1beta1.StepResult) {
	for _, on := range r.OnTime {
		p.row("On time", "%d%s of due, within %v", on.Requests, share(on.Requests, r.Due-refusedWell(&r.Counts)), on.Within.Duration)
	}
	for _, goal := range Goals(r.Streams) {
		p.row("On time", "%s", goal)
	}
}

// inFlight is what has neither succeeded nor failed yet.
func inFlight(r *v1beta1.StepResult) string {
	if r.InFlight == 0 {
		return ""
	}
	return fmt.Sprintf(" · in flight %d", r.InFlight)
}

// items is the rate of items, where requests carry more than one.
func items(r *v1beta1.StepResult) string {
	if r.ItemsPerSecond == "" {
		return ""
	}
	return "    " + tenths(r.ItemsPerSecond) + " items/s"
}

// tenths is a rate to one digit behind the point. The result has more of them, for
// comparisons.
func tenths(perSecond string) string {
	rate, ok := new(big.Rat).SetString(perSecond)
	if !ok {
		return perSecond
	}
	return rate.FloatString(1)
}

func ofType(t *v1beta1.TypeResult) string {
	said := fmt.Sprintf("%s %d total, %d successful%s", t.Name, t.Sent, t.Outcomes.Success, share(t.Outcomes.Success, t.Sent-t.InFlight))
	if t.Outcomes.RateLimited > 0 {
		said += fmt.Sprintf(", %d rate limited", t.Outcomes.RateLimited)
	}
	if t.ResponseTime != nil && t.ResponseTime.P95 != nil {
		said += ", p95 " + text.Short(t.ResponseTime.P95.Duration)
	}
	return said
}

// Contract is what the limiter is audited against, "" if it is not.
func Contract(lt *v1beta1.LoadTest) string {
	c := lt.Spec.RateLimit()
	if c == nil {
		return ""
	}
	return fmt.Sprintf("at most %d + %s/s for each %s", c.Capacity, c.RefillPerSecond, c.ClientHeader)
}

// rateLimit is the audit of the limiter, in the words of a race condition check.
func (p *page) rateLimit(a *v1beta1.RateLimitStatus) {
	p.row("Rate limit check", "%s", Contract(p.lt))
	p.row("  Clients", "%d", a.Clients)
	p.row("  Granted", "%d", a.Granted)
	p.row("  Denied", "%d", a.Denied)
	p.row("  Over-limit grants", "%d", a.OverLimitGrants)
	p.row("  False denials", "%d", a.FalseDenials)
	if a.Untracked > 0 {
		p.row("  Not audited", "%s: no room for their clients, or their workers were lost", text.Plural(a.Untracked, "request"))
	}
	p.row("  Race detected", "%t", a.OverLimitGrants > 0)
}

// share is " (99.97%)", or nothing for a share of nothing.
func share(part, whole int64) string {
	if percent := text.Percent(part, whole); percent != "" {
		return " (" + percent + ")"
	}
	return ""
}

// duration is d's value, and whether there is one.
func duration(d *metav1.Duration) (time.Duration, bool) {
	if d == nil {
		return 0, false
	}
	return d.Duration, true
}
