package lifecycle

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/results"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Store asks for the archive of a step that ends to be stored. The status names it: it
// must not be written before. Workers hold what they measured until it is, so that a step
// whose archive could not be stored yet is decided again.
type Store struct {
	// Step is the index of the step, Name that of the ConfigMap.
	Step int
	Name string
	// Report is what it is made of.
	Report *exchange.Report
}

// Unstored is an archive that is given up.
type Unstored struct {
	// Step is the index of the step.
	Step int
	// Message is a sentence of why.
	Message string
}

// ReasonResultsNotStored is the reason of an event: a step ends without its archive.
const ReasonResultsNotStored = "ResultsNotStored"

// maxUnstored bounds the message of a step without its archive.
const maxUnstored = 256

// store has the archive of step i, whose last report is recorded, be stored, unless that
// was given up.
func (r *run) store(i int, report *exchange.Report) {
	s := &r.out.Status
	ref := v1alpha1.ResultsRef{Step: s.Steps[i].Name}
	name, err := results.ArchiveName(r.test, i, s.Steps[i].Result, report)
	given := r.seen.Unstored
	switch {
	case err != nil:
		ref.Message = text.Truncate(err.Error(), maxUnstored)
	case given != nil && given.Step == i:
		ref.Message = text.Truncate(given.Message, maxUnstored)
	default:
		ref.ConfigMap = name
		r.out.Store = &Store{Step: i, Name: name, Report: report}
	}
	if ref.ConfigMap == "" {
		r.warn(ReasonResultsNotStored, fmt.Sprintf("The results of step %s beyond its summary were not stored: %s", ref.Step, ref.Message))
	}
	s.ResultsRef = append(s.ResultsRef, ref)
}
