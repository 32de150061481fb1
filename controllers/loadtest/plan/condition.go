package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/expression"
)

// maxConditions bounds the conditions of a test: to compile one takes up to a millisecond.
const maxConditions = 64

// checkConditions refuses conditions that a worker would refuse too, unless that needs rows.
func checkConditions(spec *v1beta1.LoadTestSpec) *Refusal {
	n := 0
	for i := range spec.Journeys {
		for k := range spec.Journeys[i].Steps {
			s := &spec.Journeys[i].Steps[k]
			if s.If != "" {
				n++
			}
			if s.Repeat != nil {
				n++
			}
		}
	}
	if n > maxConditions {
		return invalid("spec.journeys: %d conditions, at most %d are accepted.", n, maxConditions)
	}
	for i := range spec.Journeys {
		if err := CheckConditions(spec, i, nil); err != nil {
			message := err.Error()
			if !strings.HasSuffix(message, "?") {
				message += "."
			}
			return invalid("%s", message)
		}
	}
	return nil
}

// HasConditions says whether nothing but steps with a condition sends a request.
func HasConditions(spec *v1beta1.LoadTestSpec, r *v1beta1.Request) bool {
	if InMix(spec, r) {
		return false
	}
	for i := range spec.Journeys {
		for k := range spec.Journeys[i].Steps {
			if s := &spec.Journeys[i].Steps[k]; s.RequestName() == r.Name && s.If == "" {
				return false
			}
		}
	}
	return true
}

// CheckConditions checks those of a journey of the spec. columns are those of the table of which its user
// has a row; nil: they are not known, and any name may be one of them. The error names the field.
func CheckConditions(spec *v1beta1.LoadTestSpec, journey int, columns []string) error {
	j := &spec.Journeys[journey]
	open := j.User != nil && columns == nil
	scope := expression.NewScope(elsewhere(spec), open)
	if !slices.Contains(columns, expression.Status) && !slices.ContainsFunc(j.Steps, capturesStatus) {
		scope.Add(expression.Status, expression.Code, open) // one of the columns may have its name
	}
	for _, name := range columns {
		scope.AddColumn(name)
	}
	if j.KeepValues { // of the journey before, if there was one
		for i := range j.Steps {
			addCaptured(scope, &j.Steps[i], true)
		}
	}
	sent := false // a request that is always sent
	for i := range j.Steps {
		s := &j.Steps[i]
		field := fmt.Sprintf("spec.journeys[%d].steps[%d]", journey, i)
		if err := checkIf(scope, s.If, !sent, j.KeepValues); err != nil {
			return fmt.Errorf("%s.if: %w", field, err)
		}
		addCaptured(scope, s, s.If != "")
		if s.Repeat != nil {
			if _, err := scope.Compile(s.Repeat.Until); err != nil {
				return fmt.Errorf("%s.repeat.until: %w", field, err)
			}
		}
		sent = sent || s.RequestName() != "" && s.If == ""
	}
	if j.KeepValues && !sent {
		return fmt.Errorf("spec.journeys[%d].steps: with keepValues, at least one request must have no if", journey)
	}
	return nil
}

// checkIf checks the condition of a step that has one. first says that no request is before it that is always sent,
// and keeps that the user keeps values.
func checkIf(scope *expression.Scope, condition string, first, keeps bool) error {
	switch {
	case condition == "":
		return nil
	case first && !keeps:
		return errors.New("must not be set for the first request, nor before it, without keepValues: there is no response yet, and how many journeys are due is counted by it")
	}
	compiled, err := scope.Compile(condition)
	if err == nil && first && compiled.MayFail() {
		return errors.New(expression.MustNotFail)
	}
	return err
}

// addCaptured adds what a step captures; maybe says that it may have no value.
func addCaptured(scope *expression.Scope, s *v1beta1.JourneyStep, maybe bool) {
	capture, from := s.Captures()
	for name := range capture {
		scope.Add(name, expression.JSON, maybe)
	}
	for k := range from {
		scope.Add(from[k].Name, expression.Text, maybe)
	}
}

// capturesStatus says whether a step captures a value that has the name of the code.
func capturesStatus(s v1beta1.JourneyStep) bool {
	capture, from := s.Captures()
	_, ok := capture[expression.Status]
	return ok || slices.ContainsFunc(from, func(c v1beta1.Capture) bool { return c.Name == expression.Status })
}

// elsewhere are names that are defined, and have no value in conditions unless a step has given them one.
func elsewhere(spec *v1beta1.LoadTestSpec) map[string]string {
	names := map[string]string{}
	if spec.Setup != nil && spec.Setup.Fill != nil {
		for name := range spec.Setup.Fill.Capture {
			names[name] = expression.FromTable("setup.fill.capture")
		}
	}
	for i := range spec.Journeys {
		for k := range spec.Journeys[i].Steps {
			capture, from := spec.Journeys[i].Steps[k].Captures()
			for name := range capture {
				names[name] = expression.NotBefore
			}
			for n := range from {
				names[from[n].Name] = expression.NotBefore
			}
		}
	}
	return names
}
