package report

import (
	"fmt"
	"strings"

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

// ConditionMessages are those of the conditions, each with the place instead where a report
// has said it before.
func ConditionMessages(s *v1beta1.LoadTestStatus) []string {
	said := []Notice{{"the verdict", Judgement(s)}}
	for _, n := range Attention(s) {
		said = append(said, Notice{"Attention", n.Message})
	}
	var list []string
	for _, c := range s.Conditions {
		message := c.Message
		if place := placeOf(message, said); place != "" {
			message = "See " + place + "."
		}
		list, said = append(list, message), append(said, Notice{"condition " + c.Type, message})
	}
	return list
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
