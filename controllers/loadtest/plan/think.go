package plan

import (
	"fmt"
	"time"

	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// think is the range of think times as workers take it; nil: users do not think. One that
// is malformed never runs: checkThinkTimes refuses it.
func think(t *v1beta1.Think) *workerv1.Think {
	shortest, longest := t.Range()
	if t.Check() != nil || longest == 0 {
		return nil
	}
	return &workerv1.Think{ShortestNanos: int64(shortest), LongestNanos: int64(longest)}
}

// longestThinking is the most that a user thinks between so many requests. Think times are
// an hour at most and requests a million, whose product is within a duration.
func longestThinking(t *v1beta1.Think, requests int32) time.Duration {
	_, longest := t.Range()
	return longest * time.Duration(requests-1)
}

// checkThinkTimes refuses think times that are none, and those that alone would take a
// burst beyond its bound.
func checkThinkTimes(spec *v1beta1.LoadTestSpec) *Refusal {
	if l := spec.Ladder; l != nil {
		if refusal := checkThink("spec.ladder.think", l.Think); refusal != nil {
			return refusal
		}
	}
	if s := spec.Search; s != nil {
		if refusal := checkThink("spec.search.think", s.Think); refusal != nil {
			return refusal
		}
	}
	for i := range spec.Steps {
		s, field := &spec.Steps[i], fmt.Sprintf("spec.steps[%d].think", i)
		if refusal := checkThink(field, s.Think); refusal != nil {
			return refusal
		}
		if each := ptr.Deref(s.RequestsPerUser, 1); longestThinking(s.Think, each) >= MaxBurst {
			return invalid("%s: a user who sends %d requests may think for an hour or more, but a step with requestsPerUser may take an hour at most; lower think or requestsPerUser.", field, each)
		}
	}
	return nil
}

func checkThink(field string, think *v1beta1.Think) *Refusal {
	if err := think.Check(); err != nil {
		return invalid("%s: %v.", field, err)
	}
	return nil
}
