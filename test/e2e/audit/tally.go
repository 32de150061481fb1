package audit

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// Tally divides the requests of a type by their known outcome. Those that are in
// none of its parts were certainly not carried out: a connection that was refused,
// a name that did not resolve, an answer of status 400 to 499.
type Tally struct {
	Sent int64
	// Acknowledged had the expected response: the target has carried them out.
	Acknowledged int64
	// TimedOut had no whole response in time. Unfinished were cut at the end of
	// their step, which is a timeout by our own hand.
	TimedOut, Unfinished int64
	// Broken had their connection reset, or no HTTP for an answer, or failed in a
	// way that has no name.
	Broken int64
	// Unavailable were answered 503, and ServerErrors with another status of 500 to
	// 599.
	Unavailable, ServerErrors int64
}

// Types are the tallies of a finished run by the type of request, summed over
// its steps.
func Types(s v1beta1.LoadTestStatus) map[string]Tally {
	types := map[string]Tally{}
	for _, step := range s.Steps {
		if step.Result == nil {
			continue
		}
		for _, r := range step.Result.Types {
			types[r.Name] = types[r.Name].Plus(tally(r.Counts))
		}
	}
	return types
}

func tally(c v1beta1.Counts) Tally {
	o := c.Outcomes
	unavailable := min(answered(c, http.StatusServiceUnavailable), o.ServerError)
	return Tally{
		Sent:         c.Sent,
		Acknowledged: c.Expected,
		TimedOut:     o.Timeout,
		Unfinished:   o.Unfinished,
		Broken:       o.Reset + o.BadResponse + o.Other + o.BrokenOff + o.Stalled + o.EndedEarly,
		Unavailable:  unavailable,
		ServerErrors: o.ServerError - unavailable,
	}
}

// answered is how many responses had a status code, as far as it is known.
func answered(c v1beta1.Counts, status int32) int64 {
	for _, code := range c.StatusCodes {
		if code.Code == status {
			return code.Count
		}
	}
	return 0
}

// Plus is the tally of both.
func (t Tally) Plus(o Tally) Tally {
	return Tally{
		Sent: t.Sent + o.Sent, Acknowledged: t.Acknowledged + o.Acknowledged,
		TimedOut: t.TimedOut + o.TimedOut, Unfinished: t.Unfinished + o.Unfinished,
		Broken: t.Broken + o.Broken, Unavailable: t.Unavailable + o.Unavailable, ServerErrors: t.ServerErrors + o.ServerErrors,
	}
}

// Times is the tally of what the requests carry, each of them n.
func (t Tally) Times(n int64) Tally {
	return Tally{
		Sent: n * t.Sent, Acknowledged: n * t.Acknowledged,
		TimedOut: n * t.TimedOut, Unfinished: n * t.Unfinished,
		Broken: n * t.Broken, Unavailable: n * t.Unavailable, ServerErrors: n * t.ServerErrors,
	}
}

// Failed is how many were not acknowledged.
func (t Tally) Failed() int64 { return t.Sent - t.Acknowledged }

// Unknown is the number of unacknowledged requests that may have been carried out.
// In a run without disturbance these are only timeouts. A target that was still
// storing when its own time was over answers 504, and may have stored; but it waits
// longer than its client, for which that request timed out. With a pod killed
// connections break after it has stored as well as before, and a proxy answers 502
// or 504 in the place of an answer that was lost. 503 is the target's word that it
// has not stored, and will not.
func (t Tally) Unknown(killed bool) int64 {
	n := t.TimedOut + t.Unfinished
	if killed {
		n += t.Broken + t.ServerErrors
	}
	return n
}

// parts are the numbers that Unknown adds up, and those that it leaves out.
func (t Tally) parts(killed bool) (unknown, certain string) {
	var in, out []string
	for _, p := range []struct {
		n       int64
		unknown bool
		what    string
	}{
		{t.TimedOut, true, "timed out"},
		{t.Unfinished, true, "cut at the end of a step"},
		{t.Broken, killed, "broken off"},
		{t.ServerErrors, killed, "answered 5xx"},
		{t.Unavailable, false, "answered 503"},
	} {
		to := &out
		if p.unknown {
			to = &in
		}
		if p.n > 0 {
			*to = append(*to, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	return strings.Join(in, ", "), strings.Join(out, ", ")
}

// least is how many requests of a type, or answers of a limiter, there must be for
// their audit to say something: a fault that strikes one in thirty shows in a hundred
// with a probability of 97 %, however slow the machine is that sends them.
const least = 100

// Enough says whether so much was acknowledged that the audit says something: not
// few and, unless a pod was killed, nine of ten of those that did not end by a
// timeout, and ten for each that did. A target that answers with errors has nothing
// to compare; and what timed out may have been stored, so that a bound that is wide
// by as much as was acknowledged would not tell what is stored twice. A slow machine
// comes to one for thirty.
func (t Tally) Enough(killed bool) error {
	if t.Acknowledged < least {
		return fmt.Errorf("only %d of %d were acknowledged: the audit needs %d", t.Acknowledged, t.Sent, least)
	}
	ended := t.Sent - t.TimedOut - t.Unfinished
	if !killed && 10*t.Acknowledged < 9*ended {
		return fmt.Errorf("only %d of %d that did not time out were acknowledged: the audit needs nine of ten", t.Acknowledged, ended)
	}
	if !killed && 10*t.Unknown(false) > t.Acknowledged {
		timedOut, _ := t.parts(false)
		return fmt.Errorf("%s beside %d acknowledged: what may be stored is not bounded well; the audit allows one for ten", timedOut, t.Acknowledged)
	}
	return nil
}

// Sent is how many requests the whole run sent, and how many failed.
func Sent(s v1beta1.LoadTestStatus) (sent, failed int64) {
	for _, step := range s.Steps {
		if step.Result != nil {
			sent += step.Result.Sent
			failed += step.Result.Failed
		}
	}
	return sent, failed
}
