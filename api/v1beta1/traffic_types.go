package v1beta1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Request is one of the requests of the traffic mix: of HTTP, of gRPC or of WebSocket.
//
// +kubebuilder:validation:XValidation:rule="[has(self.http), has(self.grpc), has(self.webSocket)].exists_one(set, set)",message="exactly one of http, grpc and webSocket must be set, such as http: {path: /health}"
// +kubebuilder:validation:XValidation:rule="!has(self.webSocket) || !has(self.expect)",message="expect must not be set with webSocket"
// +kubebuilder:validation:XValidation:rule="!has(self.grpc) || !has(self.expect) || !has(self.expect.status)",message="expect.status must not be set with grpc: it lists status codes of HTTP; set expect.grpcStatus"
// +kubebuilder:validation:XValidation:rule="has(self.grpc) || !has(self.expect) || !has(self.expect.grpcStatus)",message="expect.grpcStatus must not be set without grpc"
// +kubebuilder:validation:XValidation:rule="has(self.grpc) || !has(self.expect) || !has(self.expect.replies)",message="expect.replies must not be set without grpc"
type Request struct {
	// name identifies the request in reports, thresholds and metrics. Example: checkout.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// type is the label under which reports add requests up. Example: Read, Write or a
	// label of your own. Absent: Read for GET, HEAD and OPTIONS, else Write; Mixed with
	// targets; Call with grpc; WebSocket with webSocket.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Type string `json:"type,omitempty"`

	// weight is the request's share of the mix, relative to the other weights. With
	// 0 only the setup and journeys send it. Example: 20 beside 80 is one of five.
	// Default 1, and 0 for a request that a journey sends.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Weight *int32 `json:"weight,omitempty"`

	// items is how many business items the request carries, such as the events of a
	// batch. itemsPerSecond counts them. Default 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Items int32 `json:"items,omitempty"`

	// http is a request of HTTP. Example: {method: POST, path: /cart, body: '{"item": 1}'}.
	// +optional
	HTTP *HTTPRequest `json:"http,omitempty"`

	// grpc is a call of gRPC. It needs target.protocol HTTP/2. Example: {method:
	// shop.v1.Cart/Add, message: {item: book}}.
	// +optional
	GRPC *Call `json:"grpc,omitempty"`

	// webSocket is a connection of WebSocket, with the messages that are sent and come. Example:
	// {path: /echo, send: [hello]}.
	// +optional
	WebSocket *WebSocket `json:"webSocket,omitempty"`

	// target is the name of one of spec.otherTargets, to which the request is sent, but not the
	// one that versus names. It must not be set with grpc, nor with http.targets. Absent: spec.target. Example: identity.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=24
	Target string `json:"target,omitempty"`

	// timeout bounds the request, from when it is sent to the last byte of its response.
	// Absent: the timeout of its target. Example: 500ms.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|µs|ms|s|m|h))+$') && [duration('1ms'), duration(self), duration('10m')].isSorted()",message="timeout must be a time from 1ms to 10m, such as 30s"
	Timeout *metav1.Duration `json:"timeout,omitempty"`

	// expect is which responses are expected; any other counts as failed. Absent:
	// every status from 200 to 299; OK with grpc.
	// +optional
	Expect *Expectation `json:"expect,omitempty"`
}

// HTTPRequest is a request of HTTP.
//
// path, body and header values are templates: ${user} and ${seq} (numbers of the user
// and of the request in its step, over all workers), ${worker}, ${uuid}, ${rand:a-b} and
// ${column} (of spec.data, setup.fill or its journey); ${json:column} is escaped for a string of
// JSON. $$ is a dollar sign.
//
// +kubebuilder:validation:XValidation:rule="!has(self.body) || !has(self.bodyFrom)",message="at most one of body and bodyFrom must be set"
// +kubebuilder:validation:XValidation:rule="!has(self.body) || !has(self.form)",message="at most one of body and form must be set"
// +kubebuilder:validation:XValidation:rule="!has(self.targets) || !has(self.method) && !has(self.path) && !has(self.body) && !has(self.bodyFrom) && !has(self.form)",message="method, path, body, bodyFrom and form must not be set with targets, which have their own"
// +kubebuilder:validation:XValidation:rule="!has(self.stream) || !has(self.targets) && (!has(self.method) || self.method != 'HEAD')",fieldPath=".stream",reason="FieldValueForbidden",message="stream must not be set with targets, nor with method HEAD, whose responses have no body"
type HTTPRequest struct {
	// method is the HTTP method. Default GET.
	// +optional
	Method Method `json:"method,omitempty"`

	// path is the path and query, beginning with a slash. It is a template. Example:
	// /users/${user}. Default "/".
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	// +kubebuilder:validation:Pattern=`^/[^\r\n\x00 ]*$`
	Path string `json:"path,omitempty"`

	// headers are sent with this request.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Headers []Header `json:"headers,omitempty"`

	// body is sent with this request. Absent: no body.
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	Body string `json:"body,omitempty"`

	// bodyFrom is a source of the body when it is large or secret. It is a template
	// too.
	// +optional
	BodyFrom *Content `json:"bodyFrom,omitempty"`

	// form is the body as fields of a form; as multipart/form-data if one has a filename.
	// Example: [{name: csrf, value: "${csrf}"}].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Form []FormField `json:"form,omitempty"`

	// followRedirects is how many redirects are followed, within the time of one request, to
	// this target and spec.otherTargets alone. Default 0.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	FollowRedirects int32 `json:"followRedirects,omitempty"`

	// stream is how a response that comes in parts is read: its events have times of their own. Example:
	// {events: SSE, until: "[DONE]"}.
	// +optional
	Stream *Stream `json:"stream,omitempty"`

	// targets is a targets file of vegeta: at most 100000 requests without templates,
	// sent in turn by all workers together, and measured as this request. headers are sent
	// with targets that have no header of the same name.
	// Example: {from: {configMap: {name: replay, key: targets.txt}}}.
	// +optional
	Targets *Targets `json:"targets,omitempty"`
}

// FormField is a field of a form.
type FormField struct {
	// name is the field's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name"`

	// value is a template. Absent: what bodyFrom holds, as it is, in a field with a filename.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Value *string `json:"value,omitempty"`

	// filename is that of a file.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Filename string `json:"filename,omitempty"`

	// contentType is that of the file. Default application/octet-stream.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	ContentType string `json:"contentType,omitempty"`
}

// OwnHeaders returns the headers or the metadata of a request, without the headers of its target.
func (r *Request) OwnHeaders() []Header {
	if r.HTTP != nil {
		return r.HTTP.Headers
	}
	if r.WebSocket != nil {
		return r.WebSocket.Headers
	}
	return r.GRPC.metadata()
}

// Method is an HTTP method.
//
// +kubebuilder:validation:Enum=GET;HEAD;POST;PUT;PATCH;DELETE;OPTIONS
type Method string

// Expectation says which responses are as they should be. A response that is
// not counts as failed.
type Expectation struct {
	// status lists the expected status codes. A 429 that is listed does not fail, and
	// is still counted as rateLimited. Absent: every status from 200 to 299. A redirect
	// that is not followed fails unless it is listed. Example: [302].
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:Minimum=200
	// +kubebuilder:validation:items:Maximum=599
	Status []int32 `json:"status,omitempty"`

	// grpcStatus lists the expected statuses of a call of gRPC. RESOURCE_EXHAUSTED, if it is
	// listed, does not fail, and is still counted as rateLimited. Absent: OK. Example:
	// [OK, NOT_FOUND].
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=17
	GRPCStatus []GRPCStatus `json:"grpcStatus,omitempty"`

	// replies is how many replies a call has whose method returns a stream. Another number,
	// with status OK, is counted as badResponse. Absent: any number, and at least 1 with
	// json. Example: {min: 10}.
	// +optional
	Replies *ReplyRange `json:"replies,omitempty"`

	// json are values that the JSON body of a response must have, or with grpc each reply,
	// with fields in lowerCamelCase and fields of the default value. A body without them
	// is counted as badResponse. Absent: any body is expected.
	// +optional
	// +listType=map
	// +listMapKey=path
	// +kubebuilder:validation:MaxItems=8
	JSON []ExpectedValue `json:"json,omitempty"`

	// maxBytes bounds the size of the body of a response, or with grpc of all its replies,
	// as they are transferred. A larger one is counted as badResponse. Absent: any size.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1073741824
	MaxBytes *int64 `json:"maxBytes,omitempty"`
}

// ExpectedValue is a value of a JSON body.
type ExpectedValue struct {
	// path is the place of the value. Example: .items[0].id.
	// +required
	Path JSONPath `json:"path"`

	// equals is the value: a string, a number, true, false or null. It is compared
	// as text, a number as the body writes it: 50 and "50" are the same.
	// +required
	// +nullable
	Equals apiextensionsv1.JSON `json:"equals"`
}

// JSONPath is a place in a JSON document: names after dots, and indexes from 0 in
// brackets, such as .items[0].id.
//
// +kubebuilder:validation:MaxLength=256
// +kubebuilder:validation:Pattern=`^([.][^.\[\]\s]+|\[[0-9]{1,9}\])+$`
type JSONPath string
