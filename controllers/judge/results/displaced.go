package results

import (
	"fmt"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/text"
)

const (
	// tolerableDisplacement is how large a part of the load the generator may have displaced, or
	// not sent. A larger part would reach into the p99.
	tolerableDisplacement = 0.01
	// tolerableSpread is over how long a burst may always be sent, and for how long each user
	// may be held up in a step, however short it is. tolerableSpreadShare is how large a part
	// of the median service time a burst may take: 1/10. One that takes longer finds a target
	// that has answered its first requests.
	tolerableSpread      = 10 * time.Millisecond
	tolerableSpreadShare = 10
)

// displaced says in what way the target did not get the load that was planned, by the
// generator's fault; empty if it got it.
func displaced(step *v1beta1.StepStatus, merged *measure.Measurement, total *measure.Request) string {
	spread := tolerableSpread
	if median, ok := total.Service.Quantile(0.5); ok {
		spread = max(spread, median/tolerableSpreadShare)
	}
	switch {
	case withheld(merged)+share(total.Displaced, total.Sent) > tolerableDisplacement:
		return notAsPlanned(step, merged, total)
	case share(int64(merged.HeldUp), int64(merged.UserTime)) > tolerableDisplacement && merged.HeldUp > tolerableSpread*time.Duration(step.Load.MostUsers()):
		return fmt.Sprintf("In step %s, the generator kept the users from sending for %s of their time",
			step.Name, text.Percent(int64(merged.HeldUp), int64(merged.UserTime)))
	case step.Load.IsBurst() && merged.BurstSpread > spread:
		took, most := text.Short(merged.BurstSpread), text.Short(spread)
		if took == most { // rounded, it would seem to be within the bound
			took = merged.BurstSpread.String()
		}
		return fmt.Sprintf("In step %s, the burst took %s to send; at most %s is allowed", step.Name, took, most)
	}
	return ""
}

// notAsPlanned says how many requests the generator did not send, or sent too late.
func notAsPlanned(step *v1beta1.StepStatus, merged *measure.Measurement, total *measure.Request) string {
	offered, what := merged.Offered(), "due requests were not sent"
	if offered.OfSessions {
		what = "due sessions were not started"
	}
	unsent, late := text.Percent(offered.ByGenerator, offered.Due), text.Percent(total.Displaced, total.Sent)
	after := text.Short(measure.Displacement(merged.Window))
	switch {
	case total.Displaced == 0:
		return fmt.Sprintf("In step %s, %s of the %s, although a steady generator would have sent them", step.Name, unsent, what)
	case merged.UnsentByGenerator == 0:
		return fmt.Sprintf("In step %s, %s of the requests were sent more than %s after a steady generator would have sent them", step.Name, late, after)
	}
	return fmt.Sprintf("In step %s, %s of the requests were sent more than %s after a steady generator would have sent them, and %s of the %s because of the generator",
		step.Name, late, after, unsent, what)
}

// withheld is the share of the load that the generator did not send, and a steady one would have sent.
func withheld(merged *measure.Measurement) float64 {
	offered := merged.Offered()
	return share(offered.ByGenerator, offered.Due)
}

// share is a part of a whole; 0 of nothing.
func share(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
