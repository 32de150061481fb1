package plan

import (
	"cmp"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// The types of requests that name none.
const (
	typeRead  = "Read"
	typeWrite = "Write"
	typeMixed = "Mixed"
	typeCall  = "Call"

	typeWebSocket = "WebSocket"
)

// maxName is the longest name that the API allows for a request or a step.
const maxName = 63

// RequestNames are the names and types of spec.requests by index, default types applied.
func RequestNames(spec *v1beta1.LoadTestSpec) []v1beta1.RequestStatus {
	list := make([]v1beta1.RequestStatus, len(spec.Requests))
	for i := range spec.Requests {
		r := &spec.Requests[i]
		list[i] = v1beta1.RequestStatus{Name: r.Name, Type: requestType(r)}
	}
	return list
}

// The defaults of lists are applied here and not by the API server: a tool that
// compares a manifest with what is stored would find a difference in each item.

// truncateName cuts a name that is longer than the API allows.
func truncateName(name string) string {
	runes := []rune(name)
	return string(runes[:min(len(runes), maxName)])
}

func requestType(r *v1beta1.Request) string {
	if r.Type != "" {
		return r.Type
	}
	if r.GRPC != nil {
		return typeCall
	}
	if r.WebSocket != nil {
		return typeWebSocket
	}
	if hasTargets(r) {
		return typeMixed
	}
	switch h := httpOf(r); methodOf(h.Method) {
	case "GET", "HEAD", "OPTIONS":
		return typeRead
	}
	return typeWrite
}

// weightIn is the weight of a request in the mix: by default 0 of one that a journey sends.
func weightIn(spec *v1beta1.LoadTestSpec, r *v1beta1.Request) int32 {
	if spec.Replay != nil && !isRouted(spec, r) {
		return 0
	}
	if r.Weight == nil && inJourney(spec, r) {
		return 0
	}
	return requestWeight(r)
}

// InMix says whether the mix sends a request, beside journeys and the setup.
func InMix(spec *v1beta1.LoadTestSpec, r *v1beta1.Request) bool { return weightIn(spec, r) > 0 }

// IsSent says whether the steps of a run send a request: one without a weight that no journey
// has is sent by the setup alone.
func IsSent(spec *v1beta1.LoadTestSpec, r *v1beta1.Request) bool {
	return InMix(spec, r) || inJourney(spec, r)
}

func requestWeight(r *v1beta1.Request) int32 {
	if r.Weight == nil {
		return 1
	}
	return *r.Weight
}

// httpOf is what a request has of HTTP: nothing, if it is a call or a connection of WebSocket.
func httpOf(r *v1beta1.Request) v1beta1.HTTPRequest {
	return ptr.Deref(r.HTTP, v1beta1.HTTPRequest{})
}

// hasTargets reports whether a request is a targets file.
func hasTargets(r *v1beta1.Request) bool { return httpOf(r).Targets != nil }

func methodOf(m v1beta1.Method) string { return cmp.Or(string(m), "GET") }

func pathOf(path string) string { return cmp.Or(path, "/") }

// RequestItems are how many items the requests carry, by index.
func RequestItems(spec *v1beta1.LoadTestSpec) []int64 {
	items := make([]int64, len(spec.Requests))
	for i := range spec.Requests {
		items[i] = int64(max(spec.Requests[i].Items, 1))
	}
	return items
}

// requests are the traffic mix, with the headers of a target.
func requests(spec *v1beta1.LoadTestSpec, target *v1beta1.Target) []*workerv1.Request {
	list := make([]*workerv1.Request, len(spec.Requests))
	for i := range spec.Requests {
		to, other := target, otherTarget(spec, &spec.Requests[i])
		if other >= 0 {
			to = spec.RequestTargets()[other].Target()
		}
		list[i] = request(spec, to, &spec.Requests[i])
		if other >= 0 {
			list[i].Target, list[i].TimeoutNanos = int32(other+1), int64(Timeout(spec, &spec.Requests[i]))
		}
		list[i].Weight = weightIn(spec, &spec.Requests[i])
	}
	return list
}

func request(spec *v1beta1.LoadTestSpec, target *v1beta1.Target, r *v1beta1.Request) *workerv1.Request {
	w := &workerv1.Request{Name: r.Name, Type: requestType(r), Weight: requestWeight(r)}
	expect(w, r.Expect)
	w.TimeoutNanos = int64(v1beta1.OrZero(r.Timeout))
	switch {
	case r.GRPC != nil:
		setCall(w, target, r)
	case r.WebSocket != nil:
		setWebSocket(w, target, r.WebSocket)
	default:
		setHTTP(w, target, httpOf(r))
	}
	w.Headers = withLogin(spec, target, w.Headers)
	return w
}

// setHTTP makes a request one of HTTP.
func setHTTP(w *workerv1.Request, target *v1beta1.Target, h v1beta1.HTTPRequest) {
	w.Method, w.Path, w.Body = methodOf(h.Method), pathOf(h.Path), []byte(h.Body)
	w.Headers = headers(target.Headers, h.Headers)
	if f, ok := contentFile(h.BodyFrom); ok {
		w.BodyFile = f.Path()
	}
	for i := range h.Form {
		f := &h.Form[i]
		w.Form = append(w.Form, &workerv1.FormField{
			Name: f.Name, Value: ptr.Deref(f.Value, ""), Filename: f.Filename, ContentType: f.ContentType, FromFile: f.Value == nil,
		})
	}
	w.FollowRedirects, w.Stream = h.FollowRedirects, stream(h.Stream)
	if f, ok := targetsFile(h.Targets); ok {
		w.TargetsFile, w.TargetsFormat = f.Path(), targetsFormats[h.Targets.Format]
	}
}

func expect(w *workerv1.Request, e *v1beta1.Expectation) {
	if e == nil {
		return
	}
	w.ExpectedStatus = e.Status
	for _, v := range e.JSON {
		w.ExpectedJson = append(w.ExpectedJson, &workerv1.ExpectedValue{Path: string(v.Path), Equals: v.Text()})
	}
	if e.MaxBytes != nil {
		w.MaxBodyBytes = *e.MaxBytes
	}
}

// headers are those of the target, less the ones that the request replaces,
// then the request's own.
func headers(target, request []v1beta1.Header) []*workerv1.Header {
	var list []*workerv1.Header
	for _, h := range target {
		if !hasHeader(request, h.Name) {
			list = append(list, header(&h))
		}
	}
	for _, h := range request {
		list = append(list, header(&h))
	}
	return list
}

func header(h *v1beta1.Header) *workerv1.Header {
	w := &workerv1.Header{Name: h.Name}
	if f, ok := headerFile(h); ok {
		w.Value, w.ValueFile = h.ValueFrom.Prefix, f.Path()
	} else if h.Value != nil {
		w.Value = *h.Value
	}
	return w
}

func hasHeader(list []v1beta1.Header, name string) bool {
	for _, h := range list {
		if strings.EqualFold(h.Name, name) {
			return true
		}
	}
	return false
}
