package plan

import (
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// setCall makes a request the call of gRPC that a spec describes.
func setCall(w *workerv1.Request, target *v1alpha1.Target, r *v1alpha1.Request) {
	if r.GRPC == nil {
		return
	}
	w.Call = &workerv1.Call{Method: r.GRPC.Method, Message: messageOf(r.GRPC)}
	// The call's own fields replace those of the target, as a request's headers do.
	w.Headers = headers(slices.DeleteFunc(slices.Clone(target.Headers), isOfCall), r.GRPC.Metadata)
	if r.Expect == nil {
		return
	}
	for _, name := range r.Expect.GRPCStatus {
		if status, ok := measure.GRPCStatus(string(name)); ok {
			w.ExpectedStatus = append(w.ExpectedStatus, int32(status))
		}
	}
}

// isOfCall says whether a header follows from a call.
func isOfCall(h v1alpha1.Header) bool {
	name := strings.ToLower(h.Name)
	return name == "te" || name == "content-type" || strings.HasPrefix(name, "grpc-")
}

func messageOf(c *v1alpha1.Call) []byte {
	if c.Message == nil {
		return []byte("{}")
	}
	return c.Message.Raw
}

// maxMessage bounds a message as the schema bounds a body.
const maxMessage = 64 << 10

// checkCalls refuses messages that are too long: no rule of the schema can look into a field
// that takes any JSON.
func checkCalls(spec *v1alpha1.LoadTestSpec) *Refusal {
	for i := range spec.Requests {
		if c := spec.Requests[i].GRPC; c != nil && len(messageOf(c)) > maxMessage {
			return invalid("spec.requests[%d].grpc.message: must have at most %d bytes.", i, maxMessage)
		}
	}
	return nil
}
