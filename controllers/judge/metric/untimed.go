package metric

import "github.com/loadtest-dev/loadtest-operator/api/v1beta1"

// Untimed is how many requests have no time, since they were never sent or had no answer: a quantile of
// the others looks fast if the target is slow.
type Untimed struct {
	// Missing have none, of those that were Due. ByGenerator of them a steady generator would have sent.
	Missing, ByGenerator, Due int64
}

// UntimedOf is that of the requests that a quantity is of. What is unsent may be of any request, where it
// was not counted by request.
func UntimedOf(q Quantity, result *v1beta1.StepResult) Untimed {
	unfinished, unsent, due := result.Outcomes.Unfinished, result.Unsent, result.Due
	if part := q.part(result); part != nil {
		if part.Due != nil {
			unsent = max(0, *part.Due-part.Sent)
		}
		unfinished, due = part.Outcomes.Unfinished, part.Sent+unsent
	}
	return Untimed{Missing: unsent + unfinished, ByGenerator: min(unsent, result.UnsentByGenerator), Due: due}
}

// Decide says whether a quantile of all that were due may be the time of one of so many that have none.
func (u Untimed) Decide(name v1beta1.Metric, missing int64) bool {
	q := Of(name).Times().Quantile
	return q > 0 && missing*Parts > (Parts-q)*u.Due
}
