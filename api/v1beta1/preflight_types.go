package v1beta1

// Preflight is a question that each worker asks before it sends anything else. It
// verifies that the target is the one that was meant: its version, strategy,
// configuration; or that it is healthy.
//
// +kubebuilder:validation:XValidation:rule="[has(self.http), has(self.grpc), has(self.grpcHealth)].exists_one(set, set)",message="exactly one of http, grpc and grpcHealth must be set, such as http: {path: /version}"
// +kubebuilder:validation:XValidation:rule="has(self.http) || !has(self.expect) || !has(self.expect.status)",message="expect.status must not be set without http: it lists status codes of HTTP; with grpc, set expect.grpcStatus"
// +kubebuilder:validation:XValidation:rule="has(self.grpc) || !has(self.expect) || !has(self.expect.grpcStatus)",message="expect.grpcStatus must not be set without grpc"
// +kubebuilder:validation:XValidation:rule="has(self.grpc) || !has(self.expect) || !has(self.expect.replies)",message="expect.replies must not be set without grpc"
// +kubebuilder:validation:XValidation:rule="!has(self.grpcHealth) || !has(self.expect)",message="expect must not be set with grpcHealth, which expects SERVING"
type Preflight struct {
	// name identifies the question in messages. Absent: the method and path of http,
	// the method of grpc, or grpcHealth and its service.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// http is a request of HTTP. Example: {path: /version}.
	// +optional
	HTTP *Query `json:"http,omitempty"`

	// grpc is a call of gRPC. It needs what calls of spec.requests need; the strings
	// of its message are templates without columns. Example: {method: shop.v1.Shop/About}.
	// +optional
	GRPC *Call `json:"grpc,omitempty"`

	// grpcHealth asks the target's health service (grpc.health.v1), whose descriptors the
	// workers have. SERVING is expected; with NOT_SERVING the worker asks again until
	// startDeadlineSeconds. It needs target.protocol HTTP/2. Example: {service:
	// shop.v1.Cart}.
	// +optional
	GRPCHealth *GRPCHealth `json:"grpcHealth,omitempty"`

	// expect is which response verifies the target. Any other ends the run with the
	// verdict Error; but 502, 503, 504, UNAVAILABLE and DEADLINE_EXCEEDED say that the
	// target is not ready: the worker asks again until startDeadlineSeconds. Absent:
	// every status from 200 to 299; OK with grpc.
	// +optional
	Expect *Expectation `json:"expect,omitempty"`
}

// OwnHeaders returns the headers or the metadata of a question, without the headers of its target.
func (p *Preflight) OwnHeaders() []Header { return (&Reading{HTTP: p.HTTP, GRPC: p.GRPC}).OwnHeaders() }

// GRPCHealth is a question to the health service of gRPC. The target's headers are sent
// with it.
type GRPCHealth struct {
	// service is the service whose health is asked for, as the target names it. Absent:
	// the target as a whole. Example: shop.v1.Cart.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^[-A-Za-z0-9_./]+$`
	Service string `json:"service,omitempty"`
}

// Query is a request of HTTP that asks the target about itself. The target's headers are sent
// with it.
type Query struct {
	// method is the HTTP method. Default GET.
	// +optional
	Method Method `json:"method,omitempty"`

	// path is the path and query, beginning with a slash. It is a template as in
	// requests, but without columns. Default "/".
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
}
