package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StepState is where a step stands.
//
// +kubebuilder:validation:Enum=Pending;Running;Complete;Cut;Skipped
type StepState string

const (
	// StepPending has not begun.
	StepPending StepState = "Pending"
	// StepRunning has a start instant, which may lie a moment ahead.
	StepRunning StepState = "Running"
	// StepComplete was carried out as it was planned: each worker went to the end of
	// its share, all requests that were planned were due, and load was sent for the
	// whole duration.
	StepComplete StepState = "Complete"
	// StepCut began and did not run as planned; what was measured is
	// kept.
	StepCut StepState = "Cut"
	// StepSkipped never began.
	StepSkipped StepState = "Skipped"
)

// StepStatus is a step and what was measured in it, merged over all workers.
type StepStatus struct {
	// name identifies the step.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// repetition is which of spec.repetitions the step is part of, from 1. Absent
	// when there is but one.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Repetition int32 `json:"repetition,omitempty"`
	// rung is the place of the step within its repetition, from 1, pauses included.
	// The same step of another repetition, or for the other side, has the same rung.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=128
	Rung int32 `json:"rung"`
	// side is the target that the step is sent to, of the two of spec.versus. Absent
	// without one, and for a pause.
	// +optional
	Side Side `json:"side,omitempty"`
	// hold says that the step holds the load that a search has found. Absent for every
	// other step.
	// +optional
	Hold bool `json:"hold,omitempty"`
	// state is where the step stands.
	// +required
	State StepState `json:"state"`
	// load is what the step sends, as the operator planned it when it took the run
	// up. The run is carried out by it to its end.
	// +required
	Load StepLoad `json:"load"`
	// timeLimit is the longest that the step may take from startTime on: its load,
	// the wait for responses, and the time for the last measurements to arrive.
	// Measurements that are missing then are left out. Absent for a pause.
	// +optional
	TimeLimit *metav1.Duration `json:"timeLimit,omitempty"`
	// startTime is the instant, on the operator's clock, at which all workers
	// begin the step: with its warm-up, if it has one.
	// +optional
	StartTime *metav1.MicroTime `json:"startTime,omitempty"`
	// completionTime is when the operator took the step as done: after the last
	// response of all workers.
	// +optional
	CompletionTime *metav1.MicroTime `json:"completionTime,omitempty"`
	// window is the time over which throughput and goodput are counted: the
	// duration of the step, or what the requests of a burst took. The drain after
	// it does not belong to it.
	// +optional
	Window *metav1.Duration `json:"window,omitempty"`
	// startSkew is the time between the first and the last worker's start.
	// +optional
	StartSkew *metav1.Duration `json:"startSkew,omitempty"`
	// workersReporting is how many workers' measurements are in here.
	// +optional
	WorkersReporting int32 `json:"workersReporting,omitempty"`
	// coverage is the share of the planned requests that are in the result: "87.5%".
	// Absent while the step runs, where all are, and where their number is not planned.
	// +optional
	// +kubebuilder:validation:MaxLength=8
	Coverage string `json:"coverage,omitempty"`
	// reportedUntil is when the last of them was taken.
	// +optional
	ReportedUntil *metav1.MicroTime `json:"reportedUntil,omitempty"`
	// missingAtMost is the most requests that may have been sent and are not in the
	// result, because a worker was lost, silent or cut. Absent when none was, and where
	// no number of requests is planned: no bound is known then.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MissingAtMost *int64 `json:"missingAtMost,omitempty"`
	// message says, of a step that is Cut although the run was not cut short, what was
	// not carried out.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Message string `json:"message,omitempty"`
	// thresholdState is the worst result, in this step alone, of the thresholds that
	// are about it, defaults included, those with inRepetitions left out. Absent before
	// the step was judged.
	// +optional
	ThresholdState ThresholdState `json:"thresholdState,omitempty"`
	// repeated are the results, in this step alone, of the thresholds with inRepetitions.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Repeated []RepeatedThreshold `json:"repeated,omitempty"`
	// environment is what was behind the target's Service in the step. Absent where
	// status.environment is.
	// +optional
	Environment *StepEnvironment `json:"environment,omitempty"`
	// queries are what the administrator's Prometheus answered.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=20
	Queries []QueryResult `json:"queries,omitempty"`
	// result is what was measured. Absent for pauses and before the first report.
	// +optional
	Result *StepResult `json:"result,omitempty"`
}
