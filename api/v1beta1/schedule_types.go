package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LoadTestSchedule starts LoadTests of one template: by cron, when a workload has rolled
// out, when the template changes, and by hand. It may be changed at any time; a LoadTest that it
// started keeps what it was started with.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=lts,categories=loadtesting
// +kubebuilder:printcolumn:name="Schedule",type=string,JSONPath=`.status.summary.schedule`
// +kubebuilder:printcolumn:name="Suspended",type=boolean,JSONPath=`.spec.suspend`
// +kubebuilder:printcolumn:name="Last Run",type=date,JSONPath=`.status.lastRun.startTime`
// +kubebuilder:printcolumn:name="Verdict",type=string,JSONPath=`.status.summary.verdict`
// +kubebuilder:printcolumn:name="Trend",type=string,JSONPath=`.status.summary.trend`
// +kubebuilder:printcolumn:name="Level Change",type=string,priority=1,JSONPath=`.status.summary.level`
// +kubebuilder:printcolumn:name="Next Run",type=string,JSONPath=`.status.summary.next`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 41",fieldPath=".metadata",message="name must be at most 41 characters, so that the names of its LoadTests fit"
// +kubebuilder:validation:XValidation:rule="!self.metadata.name.contains('.')",fieldPath=".metadata",message="name must not contain a dot: the names of its LoadTests begin with it"
type LoadTestSchedule struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the object's standard metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is when to start a LoadTest, and which.
	// +required
	Spec LoadTestScheduleSpec `json:"spec"`
	// status is what was observed; the operator writes it.
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
	Status LoadTestScheduleStatus `json:"status,omitzero"`
}

// LoadTestScheduleList is a list of LoadTestSchedules.
//
// +kubebuilder:object:root=true
type LoadTestScheduleList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the list's standard metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	// items are the LoadTestSchedules.
	Items []LoadTestSchedule `json:"items"`
}

// LoadTestScheduleSpec is when LoadTests start, and what they are. Without schedule, onRollout
// and onChange none starts by itself: kubectl loadtest run --from schedule/NAME starts one.
//
// +kubebuilder:validation:XValidation:rule="!has(self.timeZone) || has(self.schedule)",fieldPath=".timeZone",reason="FieldValueForbidden",message="timeZone must not be set without schedule"
// +kubebuilder:validation:XValidation:rule="!has(self.startingDeadlineSeconds) || has(self.schedule)",fieldPath=".startingDeadlineSeconds",reason="FieldValueForbidden",message="startingDeadlineSeconds must not be set without schedule: a rollout or a change is tested however late"
type LoadTestScheduleSpec struct {
	// schedule is when a LoadTest starts, in the five fields of cron or as @hourly,
	// @daily, @weekly, @monthly or @yearly. The latest time that was missed is made up
	// for, within startingDeadlineSeconds. Absent: no LoadTest starts by the clock.
	// Example: "30 2 * * 1-5".
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^(@(yearly|annually|monthly|weekly|daily|midnight|hourly)|[0-9A-Za-z*/,?-]+( +[0-9A-Za-z*/,?-]+){4})$`
	Schedule string `json:"schedule,omitempty"`

	// timeZone is the IANA name of the time zone of schedule. Absent: UTC. Example:
	// Europe/Berlin.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9+_/-]+$`
	// +kubebuilder:validation:XValidation:rule="self != 'Local'",message="timeZone must be a name such as Europe/Berlin: Local is the time zone of the operator's machine"
	TimeZone string `json:"timeZone,omitempty"`

	// startingDeadlineSeconds is the longest delay of a LoadTest that could not start at its
	// time: the operator was away or stopped, the schedule was suspended, or another of its
	// LoadTests ran. After that, the time is missed. Absent: any delay.
	// +optional
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=31536000
	StartingDeadlineSeconds *int64 `json:"startingDeadlineSeconds,omitempty"`

	// onRollout starts a LoadTest each time that a workload has rolled out, the first time
	// for the rollout that stands. Example: {kind: Deployment, name: shortener}.
	// +optional
	OnRollout *Rollout `json:"onRollout,omitempty"`

	// onChange starts a LoadTest when it is set, with the schedule or later, and each time that
	// template changes. Default false.
	// +optional
	OnChange bool `json:"onChange,omitempty"`

	// concurrencyPolicy is what becomes of a start while a LoadTest of this schedule has
	// not finished. Default Forbid: two runs at once would disturb each other.
	// +optional
	// +kubebuilder:default=Forbid
	ConcurrencyPolicy ConcurrencyPolicy `json:"concurrencyPolicy,omitempty"`

	// suspend stops new LoadTests from starting; running ones continue. Default false.
	// +optional
	// +kubebuilder:default=false
	Suspend bool `json:"suspend"`

	// successfulRunsHistoryLimit is the number of passed LoadTests that are kept. The last one
	// is always kept while it is the baseline of the next. Default 3.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	SuccessfulRunsHistoryLimit *int32 `json:"successfulRunsHistoryLimit,omitempty"`

	// failedRunsHistoryLimit is the number of kept LoadTests that finished with another
	// verdict than Passed. Default 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	FailedRunsHistoryLimit *int32 `json:"failedRunsHistoryLimit,omitempty"`

	// template is the LoadTest that starts.
	// +required
	Template LoadTestTemplate `json:"template"`
}

// Rollout is a workload whose rollouts are tested.
type Rollout struct {
	// kind is Deployment, StatefulSet or DaemonSet.
	// +required
	Kind WorkloadKind `json:"kind"`
	// name is the name of the workload, in the namespace of the schedule. A rollout counts when
	// every pod has the latest revision and is available. The operator looks every 15 s: of
	// two in that time, the later counts. A StatefulSet with a partition never counts, since some
	// pods keep the old one.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`
}

// WorkloadKind is a kind of workload that rolls out.
//
// +kubebuilder:validation:Enum=Deployment;StatefulSet;DaemonSet
type WorkloadKind string

const (
	// WorkloadDeployment is a Deployment of apps/v1.
	WorkloadDeployment WorkloadKind = "Deployment"
	// WorkloadStatefulSet is a StatefulSet of apps/v1.
	WorkloadStatefulSet WorkloadKind = "StatefulSet"
	// WorkloadDaemonSet is a DaemonSet of apps/v1.
	WorkloadDaemonSet WorkloadKind = "DaemonSet"
)

// ConcurrencyPolicy is what becomes of a start while another LoadTest has not finished.
//
// +kubebuilder:validation:Enum=Allow;Forbid;Replace
type ConcurrencyPolicy string

const (
	// AllowConcurrent starts it all the same, beside at most 99 others.
	AllowConcurrent ConcurrencyPolicy = "Allow"
	// ForbidConcurrent starts it when the other has finished; of a schedule, within
	// startingDeadlineSeconds.
	ForbidConcurrent ConcurrencyPolicy = "Forbid"
	// ReplaceConcurrent deletes the other, and starts it when that is gone.
	ReplaceConcurrent ConcurrencyPolicy = "Replace"
)

// LoadTestTemplate is what the LoadTests of a schedule are made of.
type LoadTestTemplate struct {
	// metadata is what they have beside their names.
	// +optional
	Metadata TemplateMetadata `json:"metadata,omitzero"`

	// spec is their spec. Without a baseline or versus, the last LoadTest of the schedule that
	// passed is the baseline of the next; with baseline.schedule of this schedule, the level of
	// those that passed. While there is none that fits, thresholds on maxIncrease and
	// maxDecrease are left out.
	// +required
	// +kubebuilder:validation:XValidation:rule="!self.?suspend.orValue(false)",fieldPath=".suspend",reason="FieldValueForbidden",message="suspend must not be set in a template; set spec.suspend of the schedule"
	// +kubebuilder:validation:XValidation:rule="!self.?terminate.orValue(false)",fieldPath=".terminate",reason="FieldValueForbidden",message="terminate must not be set in a template"
	// +kubebuilder:validation:XValidation:rule="!has(self.ttlSecondsAfterFinished)",fieldPath=".ttlSecondsAfterFinished",reason="FieldValueForbidden",message="ttlSecondsAfterFinished must not be set in a template; successfulRunsHistoryLimit and failedRunsHistoryLimit say how many LoadTests are kept"
	Spec LoadTestSpec `json:"spec"`
}

// TemplateMetadata is what the LoadTests of a schedule have beside their names.
type TemplateMetadata struct {
	// labels are labels of each LoadTest. Those of loadtest.dev are the operator's.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 317 && !k.startsWith('loadtest.dev/'))",message="labels must have keys of at most 317 characters that do not begin with loadtest.dev/"
	Labels map[string]LabelValue `json:"labels,omitempty"`
}

// LabelValue is the value of a label.
//
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$`
type LabelValue string
