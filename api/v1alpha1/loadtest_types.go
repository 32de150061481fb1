package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LoadTest is one run of a load test: what to send, how much of it, and what
// the target must keep. It runs once; its result stays in its status.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=ldt,categories=loadtesting
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Step",type=string,JSONPath=`.status.summary.step`
// +kubebuilder:printcolumn:name="Workers",type=string,JSONPath=`.status.summary.workers`
// +kubebuilder:printcolumn:name="Rate",type=string,JSONPath=`.status.summary.rate`
// +kubebuilder:printcolumn:name="P95",type=string,JSONPath=`.status.summary.p95`
// +kubebuilder:printcolumn:name="Failed",type=string,JSONPath=`.status.summary.failed`
// +kubebuilder:printcolumn:name="Verdict",type=string,JSONPath=`.status.verdict`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 52",message="metadata.name: must be at most 52 characters, so that the names of the worker pods fit"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || (self.spec.target == oldSelf.spec.target && self.spec.requests == oldSelf.spec.requests && self.spec.?ladder == oldSelf.spec.?ladder && self.spec.?steps == oldSelf.spec.?steps && self.spec.?thresholds == oldSelf.spec.?thresholds && self.spec.?rateLimit == oldSelf.spec.?rateLimit && self.spec.?parallelism == oldSelf.spec.?parallelism && self.spec.?worker == oldSelf.spec.?worker)",message="spec: once a run has started only suspend, terminate, startDeadlineSeconds, activeDeadlineSeconds and ttlSecondsAfterFinished may change; create another LoadTest to run something else"
type LoadTest struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the object's standard metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what to send, how much of it, and what the target must keep.
	// +required
	Spec LoadTestSpec `json:"spec"`
	// status is what was observed; the operator writes it.
	// +optional
	Status LoadTestStatus `json:"status,omitempty"`
}

// LoadTestList is a list of LoadTests.
//
// +kubebuilder:object:root=true
type LoadTestList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the list's standard metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	// items are the LoadTests.
	Items []LoadTest `json:"items"`
}

// Decimal is a positive decimal number as a string, with at most six digits
// behind the point: "1", "0.5", "12000". It is a string because floats do not
// survive every JSON codec unchanged.
//
// +kubebuilder:validation:Pattern=`^[0-9]{1,9}(\.[0-9]{1,6})?$`
// +kubebuilder:validation:MaxLength=16
// +kubebuilder:validation:XValidation:rule="double(self) > 0.0",message="must be greater than 0"
type Decimal string

// LoadTestSpec is what the user wants.
//
// +kubebuilder:validation:XValidation:rule="has(self.ladder) != has(self.steps)",message="spec: exactly one of ladder and steps must be set"
// +kubebuilder:validation:XValidation:rule="!has(self.thresholds) || has(self.rateLimit) || !self.thresholds.exists(t, t.metric in ['overLimitGrants', 'falseDenials'])",message="spec.rateLimit: must be set when a threshold is on overLimitGrants or falseDenials"
// +kubebuilder:validation:XValidation:rule="!has(self.thresholds) || self.thresholds.all(t, !has(t.requests) || t.requests.all(n, self.requests.exists(r, has(r.name) && r.name == n)))",message="spec.thresholds: each of requests must be the name of one of spec.requests"
type LoadTestSpec struct {
	// target is the service under test.
	// +required
	Target Target `json:"target"`

	// requests is the traffic mix. Requests are interleaved deterministically in
	// proportion to their weights, so that the mix is exact over every cycle.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(r, !has(r.name) || self.exists_one(o, has(o.name) && o.name == r.name))",message="spec.requests: names must be unique"
	Requests []Request `json:"requests"`

	// ladder is the short form of steps: one step for each number of users.
	// Exactly one of ladder and steps is set.
	// +optional
	Ladder *Ladder `json:"ladder,omitempty"`

	// steps is the explicit form: what to do, one after another.
	// Exactly one of ladder and steps is set.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.all(s, !has(s.name) || self.exists_one(o, has(o.name) && o.name == s.name))",message="spec.steps: names must be unique"
	// +kubebuilder:validation:XValidation:rule="self.exists(s, !has(s.pause))",message="spec.steps: at least one step must send load"
	Steps []Step `json:"steps,omitempty"`

	// thresholds are what the target must keep. Absent: the test only measures.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Thresholds []Threshold `json:"thresholds,omitempty"`

	// rateLimit is the contract of a rate limiter under test; the metrics
	// overLimitGrants and falseDenials are audited against it.
	// +optional
	RateLimit *RateLimit `json:"rateLimit,omitempty"`

	// parallelism is the number of workers that share the load. Absent: one
	// worker for every 2500 users or 2500 requests per second of the largest
	// step, whichever gives more.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Parallelism *int32 `json:"parallelism,omitempty"`

	// worker adjusts the pods that send the load.
	// +optional
	Worker *Worker `json:"worker,omitempty"`

	// suspend holds the run: before the first step no worker is created (workers
	// that were already created are removed); later it takes effect when the
	// current step ends. Default false.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// terminate ends the run as soon as possible. What was measured is kept; the
	// verdict is Canceled. It cannot be undone. Default false.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self || !oldSelf",message="spec.terminate: cannot be taken back"
	Terminate bool `json:"terminate,omitempty"`

	// startDeadlineSeconds is how long all workers may take to become ready,
	// counted from status.startTime. After it the verdict is Error. Default 300.
	// +optional
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	StartDeadlineSeconds *int64 `json:"startDeadlineSeconds,omitempty"`

	// activeDeadlineSeconds is how long the whole run may take, counted from
	// status.startTime. After it the run is cut, what was measured is kept, and
	// the verdict is Error. Absent: no limit beyond those of the steps.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`

	// ttlSecondsAfterFinished is how long a finished LoadTest is kept, counted
	// from status.completionTime. Absent: for ever.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=31536000
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`
}

// Target is the service under test.
//
// +kubebuilder:validation:XValidation:rule="has(self.url) != has(self.service)",message="spec.target: exactly one of url and service must be set"
type Target struct {
	// url is the base of every request, without a path: http://shortener:8080.
	// The administrator decides which hosts are allowed.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^https?://[^/?#@ ]+/?$')",message="spec.target.url: must be http:// or https:// with a host and no path, for example http://shortener:8080"
	URL string `json:"url,omitempty"`

	// service is a Service of the LoadTest's own namespace.
	// +optional
	Service *ServiceReference `json:"service,omitempty"`

	// timeout bounds each request, from when it is sent to the last byte of its
	// response. Default 30s.
	// +optional
	// +kubebuilder:default="30s"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1ms') && duration(self) <= duration('10m')",message="spec.target.timeout: must be between 1ms and 10m"
	Timeout *metav1.Duration `json:"timeout,omitempty"`

	// headers are sent with every request. A request's own header of the same
	// name replaces one of these. Values may be templates, as in requests.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Headers []Header `json:"headers,omitempty"`
}

// ServiceReference names a port of a Service.
type ServiceReference struct {
	// name is the Service's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// port is the Service's port number. Default 80.
	// +optional
	// +kubebuilder:default=80
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`

	// scheme is http or https. Default http.
	// +optional
	// +kubebuilder:default=http
	Scheme Scheme `json:"scheme,omitempty"`
}

// Scheme is how a Service is spoken to.
//
// +kubebuilder:validation:Enum=http;https
type Scheme string

const (
	// SchemeHTTP is plain HTTP.
	SchemeHTTP Scheme = "http"
	// SchemeHTTPS is HTTP over TLS.
	SchemeHTTPS Scheme = "https"
)

// Header is an HTTP header.
type Header struct {
	// name is the header's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern="^[-!#$%&'*+.^_`|~0-9A-Za-z]+$"
	Name string `json:"name"`

	// value is the header's value; it may be a template, as in requests.
	// +required
	// +kubebuilder:validation:MaxLength=4096
	// +kubebuilder:validation:Pattern=`^[^\r\n\x00]*$`
	Value string `json:"value"`
}
