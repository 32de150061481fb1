package source

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/loadtest-dev/loadtest-operator/expression"
)

// condition is one of a journey, and where its values are.
type condition struct {
	*expression.Condition
	from []valueFrom // by the index in the scope
}

// valueFrom is where a user has a value.
type valueFrom struct {
	column int // of the table of which the user has a row, plus one
	slot   int // of the captured values, plus one; neither: it is the code of the last response
}

// conditions compiles the conditions of a journey, as its steps add what they may name.
type conditions struct {
	scope *expression.Scope
	names []string // of captured values, by slot
	from  []valueFrom
}

func newConditions(s *Source, j *Journey, names []string) *conditions {
	elsewhere := map[string]string{}
	for _, name := range names {
		elsewhere[name] = expression.NotBefore
	}
	for _, table := range s.tables {
		for _, name := range table.columns {
			elsewhere[name] = expression.FromTable(table.name)
		}
	}
	c := &conditions{scope: expression.NewScope(elsewhere, false), names: names}
	if j.User != nil {
		for i, name := range j.User.columns {
			c.scope.AddColumn(name)
			c.from = append(c.from, valueFrom{column: i + 1})
		}
	}
	if !c.scope.Has(expression.Status) && !slices.ContainsFunc(j.Steps, (JourneyStep).capturesStatus) {
		c.scope.Add(expression.Status, expression.Code, false)
		c.from = append(c.from, valueFrom{})
	}
	if j.KeepValues { // of the journey before, if there was one
		for i := range j.Steps {
			c.add(&j.Steps[i], true)
		}
	}
	return c
}

// capturesStatus says whether the step captures a value that has the name of the code.
func (s JourneyStep) capturesStatus() bool {
	return slices.Contains(s.capturedNames(), expression.Status)
}

// captured adds what a step captures.
func (c *conditions) captured(s *JourneyStep) { c.add(s, s.If != "") }

// add adds what a step captures; maybe says that it may have no value.
func (c *conditions) add(s *JourneyStep, maybe bool) {
	add := func(name string, t expression.Type) {
		if !c.scope.Has(name) {
			c.from = append(c.from, valueFrom{slot: 1 + slices.Index(c.names, name)})
		}
		c.scope.Add(name, t, maybe)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Capture)) {
		add(name, expression.JSON)
	}
	for i := range s.CaptureFrom {
		add(s.CaptureFrom[i].Name, expression.Text)
	}
}

func (c *conditions) compile(text string) (*condition, error) {
	compiled, err := c.scope.Compile(text)
	if err != nil {
		return nil, err
	}
	return &condition{compiled, c.from[:len(c.from):len(c.from)]}, nil
}

// guard is the condition of a step that has one. first says that no request is before it that is always sent,
// and keeps that the user keeps values.
func (c *conditions) guard(s *JourneyStep, first, keeps bool) (*condition, error) {
	if first && !keeps {
		return nil, errors.New("if: must not be set for the first request, nor before it, without keepValues")
	}
	compiled, err := c.compile(s.If)
	switch {
	case err != nil:
		return nil, fmt.Errorf("if: %w", err)
	case first && compiled.MayFail():
		return nil, errors.New("if: " + expression.MustNotFail)
	}
	return compiled, nil
}

// valuesOf are the values of a user for a condition.
type valuesOf struct {
	walk *Walk
	from []valueFrom
}

var _ expression.Values = valuesOf{}

// Value is the one of an index.
func (v valuesOf) Value(index int) expression.Value {
	w := v.walk
	switch from := v.from[index]; {
	case from.column > 0:
		table := w.source.tables[w.place.journey.user-1]
		if table.Rows() == 0 {
			return expression.Value{}
		}
		return expression.Value{Kind: expression.String, Text: table.cell(int(w.ownRow()%int64(table.Rows())), from.column-1)}
	case from.slot > 0:
		if from.slot > len(w.kinds) || w.kinds[from.slot-1] == expression.None {
			return expression.Value{}
		}
		return expression.Value{Kind: w.kinds[from.slot-1], Text: w.values[from.slot-1]}
	}
	return expression.Value{Kind: expression.Number, Text: strconv.AppendInt(nil, int64(w.status), 10)}
}

// holds evaluates a condition for the user; nil always holds.
func (w *Walk) holds(c *condition) (bool, error) {
	if c == nil {
		return true, nil
	}
	return c.Holds(valuesOf{w, c.from})
}
