package report

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// A report says which steps conditions left out, and which journeys they ended.
func TestJourneysWithConditions(t *testing.T) {
	j := v1beta1.JourneyResult{
		Name: "buy", Started: 10, Completed: 7, Failed: 3,
		FailedIn: []v1beta1.JourneyFailures{
			{Step: 1, Request: "token", Failed: 1}, {Step: 3, Request: "state", Failed: 2, ByCondition: 1, Because: "until never held in 10 tries"},
		},
		LeftOut: []v1beta1.JourneyLeftOut{{Step: 4, Request: "lounge", Times: 6}, {Step: 5, Times: 1}},
	}
	const want = "buy 10 started, 7 completed (70%), 3 failed (1 in step 1, token; 2 in step 3, state: 1 by a condition, such as: until never held in 10 tries), step 4, lounge, left out 6 times, step 5 left out 1 time"
	if got := ofJourney(&j); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
