package session

import (
	"context"
	"errors"
	"fmt"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/setup"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
)

// newPreflight reads an assignment's questions; nil: there are none. All but
// their texts is as in the setup, whose connections are no part of a step's.
func newPreflight(a *workerv1.Assignment, c setup.Config) (*setup.Preflight, error) {
	if len(a.GetPreflight()) == 0 {
		return nil, nil
	}
	config := source.Config{Seed: a.GetSeed(), Workers: a.GetWorkers()}
	var errs []error
	for i, q := range a.GetPreflight() {
		question, err := toRequest(q)
		if err == nil {
			err = question.Check()
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("preflight[%d].request %q: %w", i, q.GetName(), err))
		}
		question.Weight = 1 // a source is a mix, of which each is asked once
		config.Requests = append(config.Requests, question)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	var err error
	c.Source, err = source.New(config)
	return &setup.Preflight{Config: c}, err
}

// answers is how many questions a plan that can begin had answered as expected:
// each.
func (p *plan) answers() int32 {
	if p.preflight == nil {
		return 0
	}
	return int32(p.preflight.Source.Len())
}

// ask asks all questions once.
func (p *plan) ask(ctx context.Context) *refusal {
	err := p.preflight.Ask(ctx)
	var unreachable *setup.Unreachable
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unreachable):
		return &refusal{workerv1.ReasonTargetUnreachable, err}
	}
	return &refusal{workerv1.ReasonPreflightFailed, err}
}
