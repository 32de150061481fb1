package admission

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
)

// Problem is why a field of a manifest is refused.
type Problem struct {
	// Field is its path, such as spec.steps[0].users; "" for the manifest as a whole.
	Field string
	// Message says what is wrong, and the way out.
	Message string
}

// Written returns the text of the number, truth value or text at a path as the user wrote it, without quotes;
// false: there is none. YAML reads y as true, and 0x10 as 16.
type Written func(path string) (string, bool)

// Review finds all that the API server would refuse in a LoadTest, where that stops at
// unknown fields, and says what may have been meant. The LoadTest is as it would be
// stored; nil if there is a problem. written is nil if the manifest comes from no text.
func (a *Admission) Review(ctx context.Context, manifest *unstructured.Unstructured, written Written) (*v1beta1.LoadTest, []Problem) {
	lt := &v1beta1.LoadTest{}
	if problems := a.review(ctx, manifest, written, lt); len(problems) > 0 {
		return nil, problems
	}
	return lt, nil
}

// ReviewSchedule is Review of a LoadTestSchedule, by an Admission of these.
func (a *Admission) ReviewSchedule(ctx context.Context, manifest *unstructured.Unstructured, written Written) (*v1beta1.LoadTestSchedule, []Problem) {
	s := &v1beta1.LoadTestSchedule{}
	if problems := a.review(ctx, manifest, written, s); len(problems) > 0 {
		return nil, problems
	}
	return s, nil
}

// review finds what is wrong with a manifest, and reads it into what into points to.
func (a *Admission) review(ctx context.Context, manifest *unstructured.Unstructured, written Written, into any) (problems []Problem) {
	object := manifest.DeepCopy()
	unknown, malformed := a.unknown(object)
	for _, path := range unknown {
		if a.isItemOfNoList(path) {
			continue // that there is a list is refused
		}
		problems = append(problems, Problem{path, "unknown field" + a.meant(path)})
	}
	if malformed != nil {
		return append(problems, Problem{malformed.Field, malformed.ErrorBody()})
	}
	errs, err := a.store(ctx, object, into)
	for _, e := range errs {
		if e.Field == "<nil>" { // that the rules were not checked: they are, once the rest is right
			continue
		}
		p := Problem{e.Field, a.said(e, object.Object, written) + a.remedy(e)}
		if !slices.Contains(problems, p) { // a number or a text that is neither is refused twice
			problems = append(problems, p)
		}
	}
	if err != nil {
		problems = append(problems, Problem{Message: err.Error()})
	}
	return problems
}

// unknown removes the fields that the definition does not have, and returns their paths.
// The error is of metadata that cannot be read.
func (a *Admission) unknown(object *unstructured.Unstructured) ([]string, *field.Error) {
	paths := pruning.PruneWithOptions(object.Object, a.structure, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	malformed, meta := objectmeta.CoerceWithOptions(nil, object.Object, a.structure, true, objectmeta.CoerceOptions{ReturnUnknownFieldPaths: true})
	return append(paths, meta...), malformed
}

// isItemOfNoList says whether a path leads through an item of what must be no list.
func (a *Admission) isItemOfNoList(path string) bool {
	for i := range path {
		if path[i] != '[' {
			continue
		}
		if s := a.at(path[:i]); s != nil && s.Type == "object" && s.AdditionalProperties == nil {
			return true
		}
	}
	return false
}

// said is the error as the API server words it, but for types and metrics.
func (a *Admission) said(e *field.Error, object map[string]any, written Written) string {
	if e.Type == field.ErrorTypeTypeInvalid {
		if said := a.wrongType(e.Field, object, written); said != "" {
			return said
		}
	}
	if e.Type == field.ErrorTypeInvalid {
		if said := a.wrongBeginning(e.Field, object); said != "" {
			return said
		}
	}
	body := e.ErrorBody()
	if name, ok := valueAt(object, e.Field).(string); ok && isOfThreshold.MatchString(e.Field) {
		body += meantInThreshold(e.Field, name)
	}
	return body
}

// isOfThreshold is the path of what a threshold measures.
var isOfThreshold = regexp.MustCompile(`\.thresholds\[\d+\]\.(metric|of|time)$`)

// meantInThreshold says what may be meant by a name in the field of a threshold; "" if nothing is known.
func meantInThreshold(path, name string) string {
	of := metric.StreamTimeMeant(name)
	switch {
	case of != "" && strings.HasSuffix(path, ".metric"):
		return fmt.Sprintf("; did you mean a metric such as p95 with time: %s?", of)
	case of != "" && string(of) != name || of != "" && strings.HasSuffix(path, ".of"):
		return fmt.Sprintf("; did you mean time: %s?", of)
	case strings.HasSuffix(path, ".metric"):
		if meant := metric.Meant(name); meant != "" && string(meant) != name {
			return fmt.Sprintf("; did you mean %s?", meant)
		}
	}
	return ""
}

// remedy says what a field is that the schema refuses. The rules say it themselves.
func (a *Admission) remedy(e *field.Error) string {
	switch {
	case e.Type == field.ErrorTypeRequired, e.Type == field.ErrorTypeTypeInvalid:
	case e.Type == field.ErrorTypeInvalid && strings.Contains(e.Detail, "should match"): // a pattern
	default:
		return ""
	}
	text := firstSentence(a.describe(e.Field))
	if text == "" {
		return ""
	}
	return fmt.Sprintf(" (%s)", text)
}
