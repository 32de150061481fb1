package report

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// ThresholdMessages are what each threshold found. The state of the generator, which several
// may name, is said once: not where the verdict's sentence, a notice or an earlier threshold
// has it.
func ThresholdMessages(s *v1beta1.LoadTestStatus) []string {
	said := Judgement(s)
	for _, n := range Attention(s) {
		said += "\n" + n.Message
	}
	var list []string
	for i := range s.Thresholds {
		message := withoutRepetition(s, s.Thresholds[i].Message, said)
		list, said = append(list, message), said+"\n"+message
	}
	return list
}

// withoutRepetition is a message without the state of the generator, if that was said.
func withoutRepetition(s *v1beta1.LoadTestStatus, message, said string) string {
	for i := range s.Steps {
		r := s.Steps[i].Result
		if r == nil || r.Generator == nil || r.Generator.Message == "" || !strings.Contains(said, r.Generator.Message) {
			continue
		}
		if message == r.Generator.Message {
			return fmt.Sprintf("The load of step %s was not the planned one.", s.Steps[i].Name)
		}
		message = strings.TrimSpace(strings.ReplaceAll(message, r.Generator.Message, ""))
	}
	return message
}

// ThresholdResults are these messages beside columns of values: without the sentences that the
// verdict, a notice or an earlier threshold has.
func ThresholdResults(s *v1beta1.LoadTestStatus) []string {
	said := before(s)
	list := ThresholdMessages(s)
	for i, message := range list {
		list[i] = unsaid(message, said)
		said = append(said, Notice{"threshold " + s.Thresholds[i].Name, message})
	}
	return list
}

// AuditResults are what the audits found, without the sentences that the verdict or a notice has.
func AuditResults(s *v1beta1.LoadTestStatus) []string {
	var list []string
	for i := range s.Audits {
		list = append(list, unsaid(s.Audits[i].Message, before(s)))
	}
	return list
}

// ConditionMessages are those of the conditions, without the sentences that a report has said
// before; the place of one stands for those of which nothing is left.
func ConditionMessages(s *v1beta1.LoadTestStatus) []string {
	said := before(s)
	if c := meta.FindStatusCondition(s.Conditions, v1beta1.ConditionTargetVerified); c != nil {
		said = append(said, Notice{"the target", c.Message}) // a fact
	}
	for i, message := range ThresholdMessages(s) {
		said = append(said, Notice{"threshold " + s.Thresholds[i].Name, message})
	}
	var list []string
	for _, c := range s.Conditions {
		message := unsaid(c.Message, said)
		list, said = append(list, message), append(said, Notice{"condition " + c.Type, message})
	}
	return list
}

// before is what a report says above its tables.
func before(s *v1beta1.LoadTestStatus) []Notice {
	said := []Notice{{"the verdict", Judgement(s)}}
	for _, n := range Attention(s) {
		said = append(said, Notice{"Attention", n.Message})
	}
	return said
}

// unsaid are the sentences of a message that were not said, or else where they were.
func unsaid(message string, said []Notice) string {
	var left []string
	place := ""
	for sentence := range strings.SplitAfterSeq(message, ". ") {
		if at := placeOf(strings.TrimSpace(sentence), said); at != "" {
			place = cmp.Or(place, at)
		} else {
			left = append(left, sentence)
		}
	}
	if rest := strings.TrimSpace(strings.Join(left, "")); rest != "" || place == "" {
		return rest
	}
	return "See " + place + "."
}

// placeOf is where a message was said; "": nowhere.
func placeOf(message string, said []Notice) string {
	for _, n := range said {
		if message != "" && strings.Contains(n.Message, message) {
			return n.Reason
		}
	}
	return ""
}
