package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
)

// setCall makes a request the call of gRPC that a spec describes.
func setCall(w *workerv1.Request, target *v1beta1.Target, r *v1beta1.Request) {
	w.Call = &workerv1.Call{Method: r.GRPC.Method, Messages: messagesOf(r.GRPC), Gzip: r.GRPC.Compression == v1beta1.CompressionGzip}
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
	setReplies(w, r.Expect)
}

// setReplies sets how many replies a call has. Values are expected of one at least.
func setReplies(w *workerv1.Request, e *v1beta1.Expectation) {
	if len(e.JSON) > 0 {
		w.MinReplies = 1
	}
	if e.Replies == nil {
		return
	}
	if e.Replies.Min != nil {
		w.MinReplies = *e.Replies.Min
	}
	if e.Replies.Max != nil {
		w.MaxReplies = *e.Replies.Max
	}
}

// setDescriptors says where the descriptors of a target come from: from a file, or from the
// target, which is asked with its own headers.
func setDescriptors(w *workerv1.Target, spec *v1beta1.LoadTestSpec, t *v1beta1.Target) {
	if t.GRPC != nil {
		if f, ok := contentFile(t.GRPC.DescriptorsFrom); ok {
			w.DescriptorsFile = f.Path()
			return
		}
	}
	if toTarget, toControl := HasCalls(spec); toTarget || toControl {
		w.ReflectionHeaders = withLogin(spec, t, headers(slices.DeleteFunc(slices.Clone(t.Headers), isOfCall), nil))
	}
}

// HasCalls says whether calls are sent to the target, and to the control, that are encoded
// by their descriptors: by requests, preflights and audits.
func HasCalls(spec *v1beta1.LoadTestSpec) (toTarget, toControl bool) {
	asks := func(p v1beta1.Preflight) bool { return p.GRPC != nil }
	mixed := slices.ContainsFunc(spec.Requests, func(r v1beta1.Request) bool { return r.GRPC != nil })
	audited := slices.ContainsFunc(spec.Audits, func(a v1beta1.Audit) bool { return a.Stored != nil && a.Stored.Read.GRPC != nil })
	toTarget = mixed || audited || slices.ContainsFunc(spec.Preflight, asks)
	toControl = spec.Versus != nil && (mixed || slices.ContainsFunc(ControlPreflight(spec), asks))
	return toTarget, toControl
}

// isOfCall says whether a header follows from a call.
func isOfCall(h v1beta1.Header) bool {
	name := strings.ToLower(h.Name)
	return name == "te" || name == "content-type" || strings.HasPrefix(name, "grpc-")
}

func messagesOf(c *v1beta1.Call) (list [][]byte) {
	switch {
	case c.Message != nil:
		return [][]byte{c.Message.Raw}
	case len(c.Messages) == 0:
		return [][]byte{[]byte("{}")}
	}
	for i := range c.Messages {
		list = append(list, c.Messages[i].Raw)
	}
	return list
}

func messagesSize(c *v1beta1.Call) (n int) {
	for _, m := range messagesOf(c) {
		n += len(m)
	}
	return n
}

// maxMessages bounds the messages of a call as the schema bounds a body.
const maxMessages = 64 << 10

// checkCalls refuses messages that are too long: no rule of the schema can look into a field
// that takes any JSON.
func checkCalls(spec *v1beta1.LoadTestSpec) *Refusal {
	for i := range spec.Requests {
		if refusal := checkCall(fmt.Sprintf("requests[%d]", i), spec.Requests[i].GRPC); refusal != nil {
			return refusal
		}
	}
	for _, q := range questions(spec) {
		if refusal := checkCall(q.field, q.GRPC); refusal != nil {
			return refusal
		}
	}
	for i := range spec.Audits {
		if s := spec.Audits[i].Stored; s != nil {
			if refusal := checkCall(fmt.Sprintf("audits[%d].stored.read", i), s.Read.GRPC); refusal != nil {
				return refusal
			}
		}
	}
	return nil
}

func checkCall(field string, c *v1beta1.Call) *Refusal {
	switch {
	case c == nil || messagesSize(c) <= maxMessages:
		return nil
	case c.Message != nil:
		return invalid("spec.%s.grpc.message: must have at most %d bytes.", field, maxMessages)
	}
	return invalid("spec.%s.grpc.messages: must together have at most %d bytes.", field, maxMessages)
}
