package assemble

import (
	"fmt"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/trace"
)

// newSampler draws the traces of requests to a target, nil if they have none.
func newSampler(t *workerv1.Target) (*trace.Sampler, error) {
	if t.GetTraceSampled() == 0 {
		return nil, nil
	}
	s, err := trace.NewSampler(t.GetTraceSampled())
	if err != nil {
		return nil, fmt.Errorf("target.trace: %w", err)
	}
	return s, nil
}
