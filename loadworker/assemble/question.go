package assemble

import (
	"errors"
	"fmt"
	"strings"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/setup"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
)

// newPreflight reads an assignment's questions; nil: there are none. It shares the
// setup's client, whose connections are no part of a step's.
func newPreflight(a *workerv1.Assignment, c setup.Config, s *services) (*setup.Preflight, error) {
	if len(a.GetPreflight()) == 0 {
		return nil, nil
	}
	p := &setup.Preflight{Config: c}
	for _, q := range a.GetPreflight() {
		p.Health = append(p.Health, q.GetCall().GetHealth())
	}
	var err error
	p.Source, err = newQuestions(a, a.GetPreflight(), s, func(i int) string {
		return fmt.Sprintf("preflight[%d]%s", i, fieldOf(a.GetPreflight()[i]))
	})
	return p, err
}

// newAudit reads an assignment's audits; nil: there are none. It shares the setup's
// client, too.
func newAudit(a *workerv1.Assignment, c setup.Config, s *services) (*setup.Audit, error) {
	if len(a.GetAudits()) == 0 {
		return nil, nil
	}
	x := &setup.Audit{Config: c}
	var requests []*workerv1.Request
	for i, audit := range a.GetAudits() {
		path, err := source.ParseJSONPath(audit.GetValue())
		if err != nil {
			return nil, fmt.Errorf("audits[%d].stored.value: %w", i, err)
		}
		x.Values, requests = append(x.Values, path), append(requests, audit.GetRead())
	}
	var err error
	x.Source, err = newQuestions(a, requests, s, func(i int) string {
		return fmt.Sprintf("audits[%d].stored.read%s", i, fieldOf(requests[i]))
	})
	return x, err
}

// newQuestions are requests that are sent one by one, outside the mix; field says where
// the spec has one.
func newQuestions(a *workerv1.Assignment, requests []*workerv1.Request, s *services, field func(int) string) (*source.Source, error) {
	config := source.Config{Seed: a.GetSeed(), Workers: a.GetWorkers()}
	named := func(i int) string { return fmt.Sprintf("%s %q", field(i), requests[i].GetName()) }
	var errs []error
	for i, q := range requests {
		question, err := toRequest(q, s.logins, a.GetTarget())
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", named(i), err))
		}
		question.Name, question.Weight = labelOf(q), 1 // a source is a mix, of which each request is sent by itself
		config.Requests = append(config.Requests, question)
	}
	if err := errors.Join(append(errs, s.addCalls(requests, named, config.Requests))...); err != nil {
		return nil, err
	}
	for i := range config.Requests {
		if err := config.Requests[i].Check(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", named(i), err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return source.New(config)
}

// fieldOf is the field of a question that describes its request.
func fieldOf(q *workerv1.Request) string {
	switch {
	case q.GetCall().GetHealth():
		return ".grpcHealth"
	case isCall(q):
		return "" // whatever is wrong with a call says so
	}
	return ".http"
}

// labelOf is what messages call a question: by its name, and what it calls.
func labelOf(q *workerv1.Request) string {
	name, method := q.GetName(), q.GetCall().GetMethod()
	switch {
	case q.GetCall().GetHealth() && strings.HasPrefix(name, "grpcHealth"), !isCall(q):
		return name
	case q.GetCall().GetHealth():
		return name + ": grpcHealth"
	case strings.HasPrefix(method, name): // without a name it has that of the method, or the beginning
		return "grpc.method " + method
	}
	return name + ": grpc.method " + method
}
