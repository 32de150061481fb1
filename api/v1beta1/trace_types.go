package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Trace selects the requests of which the target is asked to record a trace. Every request
// of a step, its warm-up included, has a traceparent header of its own; requests of setup,
// preflight and audits have none.
type Trace struct {
	// sampled is the share of requests in whose traceparent header the sampled flag is set,
	// drawn at random. A tracer that samples as the parent did records these and no others.
	// Example: 1%.
	// +required
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]{1,3}([.][0-9]{1,6})?%$') && double(self.replace('%', '')) > 0.0 && double(self.replace('%', '')) <= 100.0",message="sampled must be a percentage above 0% and up to 100%, such as 1%"
	Sampled string `json:"sampled"`
}

// TraceResult are requests of a step whose trace the target was asked to record.
type TraceResult struct {
	// sampled is the number of sent requests that asked for it.
	// +required
	// +kubebuilder:validation:Minimum=0
	Sampled int64 `json:"sampled"`
	// slowest are the requests among them that ended and took longest, the slowest first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=5
	Slowest []TracedRequest `json:"slowest,omitempty"`
	// failed are failures among them: two of each outcome, chosen at random, in the order
	// of outcomes.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Failed []TracedRequest `json:"failed,omitempty"`
}

// TracedRequest is a request, and the id of its trace.
type TracedRequest struct {
	// traceID is the id under which a tracing backend has the trace.
	// +required
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern="^[0-9a-f]{32}$"
	TraceID string `json:"traceID"`
	// request is the name of the request.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Request string `json:"request"`
	// outcome is what became of it, spelled as in outcomes.
	// +required
	// +kubebuilder:validation:MaxLength=32
	Outcome string `json:"outcome"`
	// statusCode is the status of its response: of HTTP, or from 1 to 16 of gRPC. Absent: it got
	// no whole response, or OK of gRPC, as outcome says.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=999
	StatusCode int32 `json:"statusCode,omitempty"`
	// responseTime is measured from when it was due, as in the step. For an unfinished request,
	// it ends when the worker stopped waiting.
	// +required
	ResponseTime metav1.Duration `json:"responseTime"`
	// serviceTime is measured from when it was sent: the trace can have that part alone.
	// +required
	ServiceTime metav1.Duration `json:"serviceTime"`
}
