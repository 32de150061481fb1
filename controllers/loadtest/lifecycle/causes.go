package lifecycle

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/question"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
)

// Sample is a step of which readings of what the pods use are wanted.
type Sample struct {
	Step int
	// Service is the target of the step.
	Service string
	// From and To are when it sends load that counts; To is zero where that is not planned.
	From, To time.Time
}

// sampleUsage asks for readings of what the target uses, as long as the step runs. Nothing waits
// for them.
func (r *loading) sampleUsage() (goesOn bool) {
	step := r.step()
	target := LookedAt(r.spec, step)
	if r.done || !r.samplesUsage() || target == nil {
		return true
	}
	s := &Sample{Step: r.i, Service: target.Name, From: step.StartTime.Add(v1beta1.OrZero(step.Load.WarmUp))}
	if d := step.Load.Duration; d != nil {
		s.To = s.From.Add(d.Duration)
	}
	r.out.Sample = s
	return true
}

// samplesUsage says whether the run began with an operator that may read what pods use.
func (r *inputs) samplesUsage() bool {
	return r.read.Environment != nil && r.read.Environment.Usage
}

// usage is what was read of it in the step, for the archive.
func (r *loading) usage() []archive.Usage {
	if seen := r.seen.Looked; seen != nil && seen.Step == r.i {
		return seen.ArchivedUsage(r.step())
	}
	return nil
}

// askedAgain is when a pass looks for answers of which it was not told.
const askedAgain = time.Second

// askQueries asks the administrator's Prometheus about the step once all its reports are in, and
// waits for the answers, among which are those that did not come.
func (r *loading) askQueries() (goesOn bool) {
	step := r.step()
	if !r.done || !r.seen.Asks || len(r.read.Internal.Queries) == 0 || step.Side == v1beta1.SideControl || r.report == nil {
		return true
	}
	if a := r.seen.Answered; a != nil && a.Step == r.i {
		step.Queries = a.Results
		return true
	}
	values := policy.QueryValues{Namespace: r.test.Namespace}
	if target := LookedAt(r.spec, step); target != nil {
		values.Service = target.Name
	}
	asked := question.About(r.read.Internal.Queries, r.rules.Queries, r.i, step, r.report.Merged.Window, values)
	r.out.Ask = &asked
	r.wake(r.now.Add(askedAgain))
	return false
}
