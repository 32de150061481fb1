package audit

import (
	"errors"
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// amount is how many of something there may be.
type amount int

const (
	none amount = iota
	allowed
	some
)

func (a amount) check(n int64, what string) error {
	switch {
	case a == none && n != 0:
		return fmt.Errorf("%d %s: there must be none", n, what)
	case a == some && n == 0:
		return fmt.Errorf("no %s: the flaw of this strategy was not seen", what)
	}
	return nil
}

// flaw is a known defect of a strategy.
type flaw struct{ overLimit, falseDenials amount }

// flaws are those of the strategies that have one. Whatever is not here keeps
// the contract.
//
// The hash loses races in every burst. Whether a transaction loses all its
// tries, and whether a burst meets the turn of a second, is luck; clocks in whole
// seconds keep a refill back, too, until the second turns.
var flaws = map[string]flaw{
	"hash":            {overLimit: some, falseDenials: allowed},
	"transaction-429": {falseDenials: allowed},
	"lua-seconds":     {overLimit: allowed, falseDenials: allowed},
}

// Limits is the status's own audit of a rate limiter, held against what its
// strategy must and may do.
type Limits struct {
	Strategy string
	v1beta1.RateLimitStatus
}

// Limited sums the audit over the steps of a run.
func Limited(strategy string, s v1beta1.LoadTestStatus) Limits {
	l := Limits{Strategy: strategy}
	for _, step := range s.Steps {
		if step.Result == nil || step.Result.RateLimit == nil {
			continue
		}
		r := step.Result.RateLimit
		l.Clients = max(l.Clients, r.Clients)
		l.Granted += r.Granted
		l.Denied += r.Denied
		l.OverLimitGrants += r.OverLimitGrants
		l.FalseDenials += r.FalseDenials
		l.Untracked += r.Untracked
	}
	return l
}

// Err is nil when the strategy did what it must, and nothing that it may not, in as
// many grants and as many denials as show it: what is over the limit shows in the
// ones, what is denied falsely in the others.
func (l Limits) Err() error {
	f := flaws[l.Strategy]
	var unseen error
	if l.Granted < least || l.Denied < least || l.Untracked > 0 {
		unseen = fmt.Errorf("%d granted, %d denied, %d not tracked: the audit needs %d, %d and 0", l.Granted, l.Denied, l.Untracked, least, least)
	}
	return errors.Join(unseen,
		f.overLimit.check(l.OverLimitGrants, "grants over the limit"),
		f.falseDenials.check(l.FalseDenials, "false denials"))
}

// Breached says that the contract was not kept, be it known of the strategy or
// not.
func (l Limits) Breached() bool { return l.OverLimitGrants > 0 || l.FalseDenials > 0 }

// String is the audit in a few words.
func (l Limits) String() string {
	return fmt.Sprintf("granted %d, denied %d, over the limit %d, denied falsely %d", l.Granted, l.Denied, l.OverLimitGrants, l.FalseDenials)
}

// Decisions are the replicas' counts of a run.
type Decisions struct{ Granted, Denied, Failed int64 }

// Counts compare the answers that arrived with what the replicas counted: a
// decision whose answer was lost was counted all the same, so that answers are what
// is acknowledged, and decisions what is stored. A request without a decision has
// an answer, too: 503. A replica that was killed took its count with it: then no
// more may be counted than was answered or lost, and Tokens says whether it is
// enough.
func (l Limits) Counts(d Decisions, hits Tally, killed bool) []Count {
	count := func(decision string, counted, answered int64) Count {
		if killed {
			answered = min(answered, counted)
		}
		want := hits
		want.Acknowledged = answered
		return Count{Stored: "counted", Acknowledged: decision, Got: counted, Want: want, Killed: killed}
	}
	return []Count{
		count("granted", d.Granted, l.Granted),
		count("denied", d.Denied, l.Denied),
		count("undecided", d.Failed, hits.Unavailable),
		count("answered", d.Granted+d.Denied+d.Failed, l.Granted+l.Denied+hits.Unavailable),
	}
}

// Tokens compares the tokens that the store gave out, in a run in which a replica
// was killed, with the grants that arrived: the store has outlived the replica. One
// that had no answer from the store says 503, whether or not a token was taken.
func (l Limits) Tokens(taken int64, hits Tally) Count {
	hits.Acknowledged = l.Granted
	hits.ServerErrors += hits.Unavailable
	hits.Unavailable = 0
	return Count{Stored: "tokens", Acknowledged: "granted", Got: taken, Want: hits, Killed: true}
}
