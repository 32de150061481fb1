package results

import (
	"encoding/hex"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// traces are the traces of a step; nil: none were asked for.
func traces(lt *v1beta1.LoadTest, merged *measure.Measurement, total *measure.Request) *v1beta1.TraceResult {
	if lt.Spec.Target.Trace == nil {
		return nil
	}
	names := map[measure.TraceID]string{}
	for i := range merged.Requests {
		for _, t := range merged.Requests[i].Traces {
			names[t.ID] = lt.Status.Requests[i].Name
		}
	}
	return &v1beta1.TraceResult{
		Sampled: total.Sampled,
		Slowest: traced(total.Traces.Slowest(), names),
		Failed:  traced(total.Traces.Failed(), names),
	}
}

func traced(list measure.Traces, names map[measure.TraceID]string) []v1beta1.TracedRequest {
	var all []v1beta1.TracedRequest
	for _, t := range list {
		all = append(all, v1beta1.TracedRequest{
			TraceID: hex.EncodeToString(t.ID[:]), Request: names[t.ID], Outcome: t.Outcome.String(), StatusCode: int32(t.Status),
			ResponseTime: metav1.Duration{Duration: t.Response.Round(time.Microsecond)},
			ServiceTime:  metav1.Duration{Duration: t.Service.Round(time.Microsecond)},
		})
	}
	return all
}
