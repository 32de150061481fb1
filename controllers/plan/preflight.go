package plan

import (
	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// preflight are the questions that every worker asks, in their order.
func preflight(spec *v1alpha1.LoadTestSpec) []*workerv1.Request {
	var list []*workerv1.Request
	for i := range spec.Preflight {
		list = append(list, request(&spec.Target, question(&spec.Preflight[i])))
	}
	return list
}

// question is a question as a request of the mix, whose defaults it shares.
func question(p *v1alpha1.Preflight) *v1alpha1.Request {
	return &v1alpha1.Request{
		Name: p.Name, Method: p.Request.Method, Path: p.Request.Path, Headers: p.Request.Headers, Expect: p.Expect,
	}
}

// PreflightNames are the names of spec.preflight by index, defaults applied.
func PreflightNames(spec *v1alpha1.LoadTestSpec) []string {
	names := make([]string, len(spec.Preflight))
	for i := range spec.Preflight {
		names[i] = requestName(question(&spec.Preflight[i]))
	}
	return names
}
