package v1alpha1

// Preflight is a request that each worker sends before anything else. It verifies
// that the target is the one that was meant: its version, strategy, configuration.
//
// +kubebuilder:validation:XValidation:rule="!has(self.expect) || !has(self.expect.grpcStatus)",message="expect.grpcStatus must not be set for a request of preflight, which is no call of gRPC"
type Preflight struct {
	// name identifies the request in messages. Absent: its method and path.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// request is what each worker sends.
	// +required
	Request Query `json:"request"`

	// expect is which response verifies the target. Any other ends the run with the
	// verdict Error. Status 502, 503 or 504 says that the target is not ready: the
	// worker asks again until startDeadlineSeconds. Absent: every status from 200 to
	// 399.
	// +optional
	Expect *Expectation `json:"expect,omitempty"`
}

// Query is a request that asks the target about itself. The target's headers are sent
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
