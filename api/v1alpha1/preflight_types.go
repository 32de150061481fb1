package v1alpha1

// Preflight is a question to the target, asked by each worker before it sends
// anything else. It makes sure that what is tested is what was meant: a version,
// a strategy, a configuration.
type Preflight struct {
	// name identifies the question in messages. Absent: its method and path.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// request is the question.
	// +required
	Request PreflightRequest `json:"request"`

	// expect is the answer. Any other ends the run with the verdict Error, but for
	// a status of 502, 503 or 504: a target that says that it is not ready is
	// asked again until startDeadlineSeconds. Absent: every status from 200 to
	// 399.
	// +optional
	Expect *Expectation `json:"expect,omitempty"`
}

// PreflightRequest is a question to the target. The target's headers are sent
// with it.
type PreflightRequest struct {
	// method is the HTTP method. Default GET.
	// +optional
	// +kubebuilder:default=GET
	Method Method `json:"method,omitempty"`

	// path is the path and query, beginning with a slash; a template as that of
	// a request, without columns. Default "/".
	// +optional
	// +kubebuilder:default="/"
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
