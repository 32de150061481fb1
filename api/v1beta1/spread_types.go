package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SpreadStatus is how far the repetitions of a step differ. Each figure is the
// least, the median and the greatest of those that the repetitions had; none is
// computed from their samples together. The median of an even number is the lower
// of the two in the middle.
type SpreadStatus struct {
	// name is the name of the step in the first repetition.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// repetitions is how many of them went to their end with all workers, and are in
	// here.
	Repetitions int32 `json:"repetitions"`
	// throughput is responses per second.
	// +optional
	Throughput *NumberSpread `json:"throughput,omitempty"`
	// goodput is successes per second.
	// +optional
	Goodput *NumberSpread `json:"goodput,omitempty"`
	// failureRate is the share of failed requests, in percent: "0.03%".
	// +optional
	FailureRate *NumberSpread `json:"failureRate,omitempty"`
	// p50 is the median of response time. This and the other quantiles are absent
	// when a repetition had too few samples for them.
	// +optional
	P50 *DurationSpread `json:"p50,omitempty"`
	// p95 is the 95th percentile of response time.
	// +optional
	P95 *DurationSpread `json:"p95,omitempty"`
	// p99 is the 99th percentile of response time.
	// +optional
	P99 *DurationSpread `json:"p99,omitempty"`
}

// NumberSpread is how far a number differs.
type NumberSpread struct {
	// min is the least.
	// +required
	// +kubebuilder:validation:MaxLength=32
	Min string `json:"min"`
	// median is the one in the middle.
	// +required
	// +kubebuilder:validation:MaxLength=32
	Median string `json:"median"`
	// max is the greatest.
	// +required
	// +kubebuilder:validation:MaxLength=32
	Max string `json:"max"`
}

// DurationSpread is how far a time differs.
type DurationSpread struct {
	// min is the shortest.
	// +required
	Min metav1.Duration `json:"min"`
	// median is the one in the middle.
	// +required
	Median metav1.Duration `json:"median"`
	// max is the longest.
	// +required
	Max metav1.Duration `json:"max"`
}
