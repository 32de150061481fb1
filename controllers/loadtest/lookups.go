package loadtest

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/question"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetaccess"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetstate"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetstate/usagereader"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// lookups are the latest readings of a run's targets.
type lookups struct {
	// access is where the targets lead to; nil: that was not read.
	access *targetaccess.Access
	// pods are those behind the target of a step; nil: they were not read.
	pods *targetstate.Seen
	// usage are the readings of the step that runs; nil: there are none.
	usage *usagereader.Readings
	// asking are the latest questions about a step; nil: none were asked.
	asking *asking
}

// asking are questions that are asked beside the passes: what is asked may take seconds to answer,
// and other runs must not wait for it.
type asking struct {
	step    int
	answers atomic.Pointer[question.Answers]
}

// answered are the answers; nil: there are none yet.
func (l *lookups) answered() *question.Answers {
	if l.asking == nil {
		return nil
	}
	return l.asking.answers.Load()
}

// observeAccess returns where the targets lead to, for the decision; nil: it need not be
// known. The latest reading stays beside it.
func (l *lookups) observeAccess(ctx context.Context, c *targetaccess.Checker, lt *v1beta1.LoadTest, rules policy.Targets, now time.Time) (*lifecycle.Access, error) {
	access, err := c.Observe(ctx, lt, rules, l.access, now)
	if err != nil || access == nil {
		return nil, err
	}
	l.access = access
	return access.Found(), nil
}
