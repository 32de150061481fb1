package decision

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/changepoint"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/baseline"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
)

const (
	// LabelSchedule has the name of the schedule, on each of its LoadTests.
	LabelSchedule = "loadtest.dev/schedule"
	// AnnotationCause says why a LoadTest was started.
	AnnotationCause = "loadtest.dev/started-by"
	// AnnotationNotCompared says why a LoadTest has no baseline.
	AnnotationNotCompared = "loadtest.dev/not-compared"
)

// Earlier is what the next LoadTest of a schedule may be compared with.
type Earlier struct {
	// Passed is the last that passed, whole; nil: there is none. Only for NeedsBaseline.
	Passed *v1beta1.LoadTest
	// Level is the level of the schedule. Only for NeedsLevel.
	Level *baseline.Level
}

// Run is the LoadTest of that name. What cannot be compared with what was before runs without a
// baseline, and without thresholds that bound a difference.
func Run(s *v1beta1.LoadTestSchedule, name, cause string, earlier Earlier) *v1beta1.LoadTest {
	lt := &v1beta1.LoadTest{Spec: *s.Spec.Template.Spec.DeepCopy()}
	lt.Namespace, lt.Name = s.Namespace, name
	lt.Labels = map[string]string{}
	for k, v := range s.Spec.Template.Metadata.Labels {
		lt.Labels[k] = string(v)
	}
	lt.Labels[LabelSchedule] = s.Name
	lt.Annotations = map[string]string{AnnotationCause: cause}
	owner := metav1.NewControllerRef(s, v1beta1.GroupVersion.WithKind("LoadTestSchedule"))
	owner.BlockOwnerDeletion = nil
	lt.OwnerReferences = []metav1.OwnerReference{*owner}
	switch {
	case NeedsLevel(s):
		compareWithLevel(lt, earlier.Level)
	case NeedsBaseline(&lt.Spec) && earlier.Passed == nil:
		notCompared(lt, "No LoadTest of this schedule has passed yet.")
	case NeedsBaseline(&lt.Spec):
		if why := misfit(&lt.Spec, earlier.Passed); why != "" {
			notCompared(lt, why)
		} else {
			lt.Spec.Baseline = &v1beta1.Baseline{Name: earlier.Passed.Name}
		}
	}
	return lt
}

// notCompared leaves out the baseline of a LoadTest and the thresholds that need one.
func notCompared(lt *v1beta1.LoadTest, why string) {
	lt.Annotations[AnnotationNotCompared] = why
	lt.Spec.Baseline, lt.Spec.Thresholds = nil, absolute(lt.Spec.Thresholds)
}

// compareWithLevel leaves out of a LoadTest the thresholds whose metric has no level yet in a step that
// they cover. With them, no LoadTest could pass, and there would never be a level.
func compareWithLevel(lt *v1beta1.LoadTest, level *baseline.Level) {
	if level == nil {
		notCompared(lt, "The level of this schedule was not read.")
		return
	}
	steps := plan.Steps(&lt.Spec)
	copied, refusal := baseline.CopyLevel(&lt.Spec, steps, level)
	if refusal != nil {
		notCompared(lt, refusal.Message)
		return
	}
	lacking := baseline.Lacking(&lt.Spec, steps, copied)
	if len(lacking) == 0 {
		return
	}
	var kept []v1beta1.Threshold
	var left []string
	for i := range lt.Spec.Thresholds {
		if t := &lt.Spec.Thresholds[i]; slices.Contains(lacking, i) {
			left = append(left, string(t.Metric))
		} else {
			kept = append(kept, *t)
		}
	}
	lt.Spec.Thresholds = kept
	lt.Annotations[AnnotationNotCompared] = fmt.Sprintf("Thresholds left out, since fewer than %d LoadTests that passed have the metric in a step that they cover: %s.",
		changepoint.LeastRuns, strings.Join(left, ", "))
}

// NeedsBaseline says whether a template leaves it to the schedule with what its LoadTests
// are compared.
func NeedsBaseline(spec *v1beta1.LoadTestSpec) bool {
	return spec.Baseline == nil && spec.Versus == nil
}

// NeedsLevel says whether the LoadTests of a schedule are compared with its own level.
func NeedsLevel(s *v1beta1.LoadTestSchedule) bool {
	b := s.Spec.Template.Spec.Baseline
	return b != nil && b.Schedule == s.Name
}

// IsBaseline says whether a LoadTest is one of the schedule that has passed.
func IsBaseline(s *v1beta1.LoadTestSchedule, lt *v1beta1.LoadTest) bool {
	return metav1.IsControlledBy(lt, s) && lt.Status.Verdict == v1beta1.VerdictPassed && lt.DeletionTimestamp.IsZero()
}

// misfit is why a run cannot be compared with a finished one; empty: it can.
func misfit(spec *v1beta1.LoadTestSpec, passed *v1beta1.LoadTest) string {
	if _, refusal := baseline.Copy(spec, plan.Steps(spec), passed); refusal != nil {
		return refusal.Message
	}
	return ""
}

// absolute are the thresholds that bound no difference.
func absolute(all []v1beta1.Threshold) []v1beta1.Threshold {
	var kept []v1beta1.Threshold
	for i := range all {
		if !all[i].IsRelative() {
			kept = append(kept, all[i])
		}
	}
	return kept
}

// nameAt is the name of the LoadTest of a time.
func nameAt(s *v1beta1.LoadTestSchedule, at time.Time) string {
	return s.Name + "-" + strconv.FormatInt(at.Unix()/60, 10)
}

// nameOf is the name of the LoadTest of something that happened.
func nameOf(s *v1beta1.LoadTestSchedule, what ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %q", s.UID, what))
	return s.Name + "-" + hex.EncodeToString(sum[:5])
}

// annotationHash has the hash of a template, in a schedule that is without it.
const annotationHash = "loadtest.dev/template-hash"

// WithoutTemplate takes the template out of a schedule, which may be of over 1 MB, but for what
// a decision reads of it. Whoever starts a LoadTest reads the schedule again.
func WithoutTemplate(s *v1beta1.LoadTestSchedule) {
	if isWithoutTemplate(s) {
		return
	}
	t := &s.Spec.Template
	kept := v1beta1.LoadTestSpec{Baseline: t.Spec.Baseline}
	if t.Spec.Versus != nil {
		kept.Versus = &v1beta1.Versus{}
	}
	s.Annotations = map[string]string{annotationHash: hash(t)}
	s.Spec.Template = v1beta1.LoadTestTemplate{Spec: kept}
}

// isWithoutTemplate says whether the template was taken out: one that is stored has requests.
func isWithoutTemplate(s *v1beta1.LoadTestSchedule) bool {
	return len(s.Spec.Template.Spec.Requests) == 0 && s.Annotations[annotationHash] != ""
}

// templateHash is the hash of a schedule's template, whether or not it was taken out.
func templateHash(s *v1beta1.LoadTestSchedule) string {
	if isWithoutTemplate(s) {
		return s.Annotations[annotationHash]
	}
	return hash(&s.Spec.Template)
}

// hash is that of a template.
func hash(t *v1beta1.LoadTestTemplate) string {
	raw, err := json.Marshal(t)
	if err != nil {
		return "" // not reached: it came as JSON
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8])
}
