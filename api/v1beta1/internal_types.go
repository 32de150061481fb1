package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// InternalStatus is what the operator notes for itself, so that another process goes on from it.
type InternalStatus struct {
	// stopTime is when the operator began to cut the run short, because of
	// spec.terminate, activeDeadlineSeconds, a threshold whose onBreach is Abort, or the
	// operator's configuration.
	// +optional
	StopTime *metav1.MicroTime `json:"stopTime,omitempty"`

	// stopCause is why the operator's configuration ended the run. Absent: it did not.
	// +optional
	StopCause *StopCause `json:"stopCause,omitempty"`

	// goneWorkers are the numbers, from 0, of workers that had ended before the step that
	// runs, or ran last, was begun: they sent nothing of it. Absent unless worker.onLoss
	// is Continue.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=1000
	// +kubebuilder:validation:items:Minimum=0
	// +kubebuilder:validation:items:Maximum=999
	GoneWorkers []int32 `json:"goneWorkers,omitempty"`

	// access is where the workers may connect to for the target. Absent until what the
	// target leads to was read, and without a cluster.
	// +optional
	Access *TargetAccess `json:"access,omitempty"`

	// controlAccess is where they may connect to for the target that spec.versus names.
	// +optional
	ControlAccess *TargetAccess `json:"controlAccess,omitempty"`

	// otherAccess are where they may connect to for status.otherTargets, in their order.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	OtherAccess []TargetAccess `json:"otherAccess,omitempty"`

	// queries are asked at the end of each step, by name.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MaxLength=63
	Queries []string `json:"queries,omitempty"`

	// setupConnections is how many connections each worker opens for spec.setup, at most, by the
	// limit of users of the operator's configuration. Absent: there is no setup, or no limit.
	// +optional
	SetupConnections int32 `json:"setupConnections,omitempty"`

	// auditing is present while a worker reads the numbers of spec.audits.
	// +optional
	Auditing *Auditing `json:"auditing,omitempty"`

	// gaveWayAfter is for how long the run had a place, in all, in which its workers did not
	// become ready, until it gave the place to others. Absent: it did not give way.
	// +optional
	GaveWayAfter *metav1.Duration `json:"gaveWayAfter,omitempty"`

	// heldSince is the instant since which a run with spec.loads is held, by spec.suspend or by that
	// of a load, without anything being sent: it stays when the run is resumed, until a load is
	// sent. Absent: it was not held since.
	// +optional
	HeldSince *metav1.MicroTime `json:"heldSince,omitempty"`
}
