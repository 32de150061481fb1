package lifecycle

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Store asks to store the archive of a step that ends. The status names the archive, so it
// must be written afterwards. Workers hold what they measured until then, so that a step
// whose archive could not be stored yet is decided again.
type Store struct {
	// Step is the index of the step, Name the name of the ConfigMap.
	Step int
	Name string
	// Report is the content of the archive.
	Report *exchange.Report
	// Usage is part of it, too: what the target's pods used.
	Usage []archive.Usage
}

// Unstored is an archive that is given up.
type Unstored struct {
	// Step is the index of the step.
	Step int
	// Message is a sentence that says why.
	Message string
}

// ReasonResultsNotStored is the reason of an event: a step ends without its archive.
const ReasonResultsNotStored = "ResultsNotStored"

// maxUnstored bounds the message of a step without its archive.
const maxUnstored = 256

// store asks for the archive of the step, whose last report is recorded, to be stored, unless
// that was given up.
func (r *loading) store() {
	s, i, report := &r.out.Status, r.i, r.report
	ref := v1beta1.ResultRef{Step: s.Steps[i].Name}
	name, err := results.ArchiveName(r.test, i, s.Steps[i].Result, report)
	given := r.seen.Unstored
	switch {
	case err != nil:
		ref.Message = text.Truncate(err.Error(), maxUnstored)
	case given != nil && given.Step == i:
		ref.Message = text.Truncate(given.Message, maxUnstored)
	default:
		ref.ConfigMap = name
		r.out.Store = &Store{Step: i, Name: name, Report: report, Usage: r.usage()}
	}
	if ref.ConfigMap == "" {
		r.warn(ReasonResultsNotStored, fmt.Sprintf("The detailed results of step %s were not stored: %s", ref.Step, ref.Message))
	}
	s.ResultRefs = append(s.ResultRefs, ref)
}
