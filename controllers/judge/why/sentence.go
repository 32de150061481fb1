package why

import (
	"fmt"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// maxSentence is the bound that the API puts on it.
const maxSentence = 512

// Run is what a sentence is about.
type Run struct {
	// Service is that of the target.
	Service string
	// UpTo is the highest load that was kept, in words; empty: none was.
	UpTo string
	// Kept are the steps of lower loads than that of Broke, which were kept. Broke is the step of
	// the lowest load that was not, and Load that load in words.
	Kept  []*v1beta1.StepStatus
	Broke *v1beta1.StepStatus
	Load  string
	// Between says that of a lower load it is not known whether it was kept.
	Between bool
}

// finding is something at its limit. isNew says that it was measured, too, in a step that was kept,
// and was not at its limit there.
type finding struct {
	what  string
	isNew bool
}

// Sentence says what was at its limit; empty: nothing is known to have been.
func Sentence(r Run) string {
	var findings []finding
	findings = append(findings, r.outOfMemory()...)
	findings = append(findings, r.processors()...)
	findings = append(findings, r.queries()...)
	idle := r.idle()
	switch {
	case len(findings) == 0 && idle == "":
		return ""
	case len(findings) == 0:
		findings = []finding{{idle + ", which does not explain it", true}}
	case idle != "":
		findings[len(findings)-1].what += ", while " + idle
	}
	var said []string
	isNew := true
	for _, f := range findings {
		said, isNew = append(said, f.what), isNew && f.isNew
	}
	return text.Truncate(r.opening(isNew)+" "+strings.Join(said, ", and ")+".", maxSentence)
}

// opening is where it was: from a load on only if it was not so below.
func (r Run) opening(isNew bool) string {
	switch {
	case r.UpTo == "":
		return fmt.Sprintf("Not kept at %s, where", r.Load)
	case isNew && !r.Between:
		return fmt.Sprintf("Kept up to %s; from there", r.UpTo)
	}
	return fmt.Sprintf("Kept up to %s; at %s", r.UpTo, r.Load)
}

// below says of a thing whether it was so in a step that was kept, and whether it was measured in
// any.
func (r Run) below(is func(*v1beta1.StepStatus) (so, known bool)) (so, known bool) {
	for _, step := range r.Kept {
		was, measured := is(step)
		so, known = so || was, known || measured
	}
	return so, known
}

// queries are those of the administrator whose value was at its limit.
func (r Run) queries() (list []finding) {
	for i := range r.Broke.Queries {
		q := &r.Broke.Queries[i]
		if so, _ := isUsedUp(q); !so {
			continue
		}
		so, known := r.below(func(step *v1beta1.StepStatus) (so, known bool) {
			for i := range step.Queries {
				if of := &step.Queries[i]; of.Name == q.Name {
					return isUsedUp(of)
				}
			}
			return false, false
		})
		if !so {
			list = append(list, finding{fmt.Sprintf("%q is at %s of %s", q.Name, q.Value, q.Limit), known})
		}
	}
	return list
}
