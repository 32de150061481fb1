package plan

import (
	"encoding/json"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// fieldQuestion is a question with its field, below spec.
type fieldQuestion struct {
	field string
	*v1beta1.Preflight
}

// questions are all that a spec has, those of both targets of a comparison.
func questions(spec *v1beta1.LoadTestSpec) (all []fieldQuestion) {
	add := func(field string, list []v1beta1.Preflight) {
		for i := range list {
			all = append(all, fieldQuestion{fmt.Sprintf("%s[%d]", field, i), &list[i]})
		}
	}
	add("preflight", spec.Preflight)
	if spec.Versus != nil {
		add("versus.preflight", spec.Versus.Preflight)
	}
	return all
}

// preflight are questions that every worker asks of a target, in their order.
func preflight(spec *v1beta1.LoadTestSpec, questions []v1beta1.Preflight, target *v1beta1.Target) []*workerv1.Request {
	var list []*workerv1.Request
	for i := range questions {
		q := request(spec, target, question(&questions[i]))
		if q.Call != nil {
			q.Call.Health = questions[i].GRPCHealth != nil
		}
		list = append(list, q)
	}
	return list
}

// question is a question as a request of the mix, whose defaults it shares.
func question(p *v1beta1.Preflight) *v1beta1.Request {
	r := &v1beta1.Request{Name: questionName(p), HTTP: httpOfQuery(p.HTTP), GRPC: p.GRPC, Expect: p.Expect}
	if p.GRPCHealth != nil {
		r.GRPC = healthCheck(p.GRPCHealth)
	}
	return r
}

// httpOfQuery is a query as a request of the mix has it; nil: there is none.
func httpOfQuery(q *v1beta1.Query) *v1beta1.HTTPRequest {
	if q == nil {
		return nil
	}
	return &v1beta1.HTTPRequest{Method: q.Method, Path: q.Path, Headers: q.Headers}
}

// questionName is what messages call a question.
func questionName(p *v1beta1.Preflight) string {
	switch {
	case p.Name != "":
		return p.Name
	case p.GRPCHealth != nil:
		return healthName(p.GRPCHealth)
	case p.GRPC != nil:
		return truncateName(p.GRPC.Method)
	}
	q := ptr.Deref(p.HTTP, v1beta1.Query{})
	return truncateName(methodOf(q.Method) + " " + pathOf(q.Path))
}

// healthName is what a question to the health service is called.
func healthName(h *v1beta1.GRPCHealth) string {
	if h.Service == "" {
		return "grpcHealth"
	}
	return truncateName("grpcHealth " + h.Service)
}

// healthCheck is the call that asks the health service.
func healthCheck(h *v1beta1.GRPCHealth) *v1beta1.Call {
	message, _ := json.Marshal(map[string]string{"service": h.Service}) // strings always can be
	return &v1beta1.Call{Method: "grpc.health.v1.Health/Check", Message: &apiextensionsv1.JSON{Raw: message}}
}

// PreflightNames are the names of questions by index, defaults applied.
func PreflightNames(questions []v1beta1.Preflight) []string {
	names := make([]string, len(questions))
	for i := range questions {
		names[i] = questionName(&questions[i])
	}
	return names
}
