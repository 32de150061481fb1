package scripted

import (
	"golang.org/x/net/http2"

	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
)

// OutcomeOf is what a request ends in that is answered by a frame of the ground-truth
// server.
func OutcomeOf(f groundtruth.Frame) measure.Outcome {
	switch {
	case f.Scope == groundtruth.NoError && f.Code == http2.ErrCodeRefusedStream:
		return measure.Refused
	case f.Scope == groundtruth.NoError, f.Name == "data-after-reset":
		return measure.Reset
	}
	return measure.BadResponse
}
