package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ThresholdState is the result of a threshold.
//
// +kubebuilder:validation:Enum=Pending;Passed;Failed;Inconclusive
type ThresholdState string

const (
	// ThresholdPending has not been judged on any step yet.
	ThresholdPending ThresholdState = "Pending"
	// ThresholdPassed was kept in every step judged so far.
	ThresholdPassed ThresholdState = "Passed"
	// ThresholdFailed was breached in a step.
	ThresholdFailed ThresholdState = "Failed"
	// ThresholdInconclusive could not be judged in a step.
	ThresholdInconclusive ThresholdState = "Inconclusive"
)

// RepeatedThreshold is the result of a threshold with inRepetitions in one of them.
type RepeatedThreshold struct {
	// threshold is its place in spec.thresholds, from 0.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=31
	Threshold int32 `json:"threshold"`
	// state is the result in this repetition.
	// +required
	State ThresholdState `json:"state"`
	// observed is the value. Absent where it is not known.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Observed string `json:"observed,omitempty"`
	// withoutGenerator is the value without the generator's own delay. Absent where it
	// equals observed.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	WithoutGenerator string `json:"withoutGenerator,omitempty"`
	// reason says why, such as GeneratorUncertain. Absent where state says it.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Reason string `json:"reason,omitempty"`
}

// ThresholdStatus is a threshold's worst result over the steps judged so far, or its
// result in the latest probe of a search.
type ThresholdStatus struct {
	// name identifies the threshold.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// state is the result.
	// +required
	State ThresholdState `json:"state"`
	// step is the step that decided.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Step string `json:"step,omitempty"`
	// observed is the value in that step.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Observed string `json:"observed,omitempty"`
	// withoutGenerator is the value without the generator's own delay. Absent where it
	// equals observed.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	WithoutGenerator string `json:"withoutGenerator,omitempty"`
	// limit is the bound.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Limit string `json:"limit,omitempty"`
	// metric is the quantity that is bounded.
	// +optional
	Metric Metric `json:"metric,omitempty"`
	// default says that the threshold is not one of spec.thresholds: it is a maximum
	// that holds for the requests and steps that no threshold of the same metric in
	// spec.thresholds is about.
	// +optional
	Default bool `json:"default,omitempty"`
	// reason is the reason of condition ThresholdsMet if this threshold decides it, such as
	// GeneratorUncertain. Absent: ThresholdBreached if it failed, Inconclusive if it could
	// not be judged.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Reason string `json:"reason,omitempty"`
	// message is the result in a sentence.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
	// abortTime is when the threshold ended the run, by its onBreach: its value so far
	// is observed, in the step that ran then. Absent: it did not.
	// +optional
	AbortTime *metav1.MicroTime `json:"abortTime,omitempty"`
}
