package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LoadTestScheduleStatus is what was observed of a schedule and its LoadTests.
type LoadTestScheduleStatus struct {
	// observedGeneration is the generation of the spec that this status is about. It is
	// -1 before the operator has seen the schedule.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are Ready, Suspended and Stalled. Stalled is for tools that wait by kstatus:
	// it is True while the spec must be changed before a LoadTest can start, with the reason
	// and the message of Ready, and absent otherwise.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// active are the names of the LoadTests of this schedule that have not finished, the
	// first hundred of them.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=63
	Active []string `json:"active,omitempty"`

	// lastScheduleTime is the latest time of schedule for which a LoadTest was started, or
	// starts once those are gone that it replaces.
	// +optional
	LastScheduleTime *metav1.Time `json:"lastScheduleTime,omitempty"`

	// nextRunTime is the next time of schedule. Absent while the schedule is suspended.
	// +optional
	NextRunTime *metav1.Time `json:"nextRunTime,omitempty"`

	// lastRun is the LoadTest that was started last.
	// +optional
	LastRun *RunOfSchedule `json:"lastRun,omitempty"`

	// lastPassed is the LoadTest that passed last, of those that are there. It is the
	// baseline of the next.
	// +optional
	LastPassed *RunOfSchedule `json:"lastPassed,omitempty"`

	// lastFinished is the LoadTest that finished last.
	// +optional
	LastFinished *RunOfSchedule `json:"lastFinished,omitempty"`

	// history are the LoadTests of this schedule that finished last and passed or failed, the
	// oldest first. What is known of one stays here when it is deleted.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=60
	History []FiguresOfRun `json:"history,omitempty"`

	// levelChanges are the LoadTests of history from which on a metric has another level, the
	// oldest first. A change shows with the fourth LoadTest of the new level: fewer may be chance.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	LevelChanges []LevelChange `json:"levelChanges,omitempty"`

	// missedRuns is how many times of schedule had no LoadTest, because the next time was
	// there or startingDeadlineSeconds had passed. More than 100 in a row count as 100.
	// +optional
	MissedRuns int64 `json:"missedRuns,omitempty"`

	// considered is how far times of schedule have been dealt with. Absent without
	// a schedule that can be read.
	// +optional
	Considered *Considered `json:"considered,omitempty"`

	// change is the latest change of template. Absent without onChange.
	// +optional
	Change *TemplateChange `json:"change,omitempty"`

	// rollout is the latest rollout for which a LoadTest was started.
	// +optional
	Rollout *RolloutRun `json:"rollout,omitempty"`

	// summary is the line that kubectl get prints.
	// +optional
	Summary ScheduleSummary `json:"summary,omitzero"`
}

// RunOfSchedule is a LoadTest that a schedule started.
type RunOfSchedule struct {
	// name is the name of the LoadTest.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// startTime is when it was created.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// completionTime is when it finished.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
	// verdict is its verdict. Absent while it has not finished.
	// +optional
	Verdict Verdict `json:"verdict,omitempty"`
}

// FiguresOfRun is what is kept of a LoadTest of a schedule, to tell a change of its level.
type FiguresOfRun struct {
	// name is the name of the LoadTest.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// completionTime is when it finished.
	// +required
	CompletionTime metav1.Time `json:"completionTime"`
	// p99 is the 99th percentile of response times in its last step, of repetitions the
	// median. Absent: too few samples.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	P99 string `json:"p99,omitempty"`
	// sustained is the largest load that it kept: "380/s", "100 users". Absent: none.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Sustained string `json:"sustained,omitempty"`
}

// LevelMetric is a metric whose level is watched.
//
// +kubebuilder:validation:Enum=p99;sustained
type LevelMetric string

const (
	// LevelP99 is p99 of the last step.
	LevelP99 LevelMetric = "p99"
	// LevelSustained is the largest load that was kept.
	LevelSustained LevelMetric = "sustained"
)

// LevelChange is a LoadTest from which on a metric has another level.
type LevelChange struct {
	// metric is p99 or sustained.
	// +required
	Metric LevelMetric `json:"metric"`
	// run is the first LoadTest of the new level.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Run string `json:"run"`
	// time is when it finished.
	// +required
	Time metav1.Time `json:"time"`
	// from is the level before, the median of its LoadTests: "40ms", "400/s".
	// +required
	// +kubebuilder:validation:MaxLength=32
	From string `json:"from"`
	// to is the level since.
	// +required
	// +kubebuilder:validation:MaxLength=32
	To string `json:"to"`
}

// Considered is the part of the schedule's times that has been handled.
type Considered struct {
	// schedule is schedule and timeZone as they were then. When they change, times count from
	// the moment at which the operator reads the change.
	// +required
	// +kubebuilder:validation:MaxLength=200
	Schedule string `json:"schedule"`
	// until is the instant up to which each time has its LoadTest, or was missed.
	// +required
	Until metav1.Time `json:"until"`
}

// TemplateChange is a change of the template.
type TemplateChange struct {
	// hash is the hash of template.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Hash string `json:"hash"`
	// generation is the generation of the schedule with which the change was seen.
	// +required
	Generation int64 `json:"generation"`
	// run is the LoadTest that was started for it. Absent: none yet.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Run string `json:"run,omitempty"`
}

// RolloutRun is a rollout for which a LoadTest was started.
type RolloutRun struct {
	// uid is the UID of the workload.
	// +required
	// +kubebuilder:validation:MaxLength=63
	UID string `json:"uid"`
	// revision is the workload's, which grows with each rollout.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Revision string `json:"revision"`
	// run is the LoadTest.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Run string `json:"run"`
}

// ScheduleSummary is the line that kubectl get prints, as strings for people.
type ScheduleSummary struct {
	// schedule is what starts a LoadTest: "30 2 * * 1-5, rollout".
	// +optional
	// +kubebuilder:validation:MaxLength=200
	Schedule string `json:"schedule,omitempty"`
	// verdict is the verdict of the LoadTest that finished last.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Verdict string `json:"verdict,omitempty"`
	// trend is p99 of the last step of the LoadTest that finished last, and how far it is
	// from its baseline: "p99 41.2ms, +3%".
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Trend string `json:"trend,omitempty"`
	// level is the latest of levelChanges: "p99 +30% since nightly-29671230".
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Level string `json:"level,omitempty"`
	// next is nextRunTime to the minute, in the schedule's time zone: "2026-11-23 02:30 CET".
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Next string `json:"next,omitempty"`
}

// Ready: can the schedule start LoadTests?
const (
	// ConditionReady is True when nothing is wrong with the schedule, whatever the
	// verdicts of its LoadTests. It stays True while the schedule is suspended.
	ConditionReady = "Ready"
	// ReasonReady surfaces when nothing is wrong.
	ReasonReady = "Ready"
	// ReasonInvalidSchedule surfaces when schedule or timeZone cannot be read.
	ReasonInvalidSchedule = "InvalidSchedule"
	// ReasonRunRefused surfaces when the API server does not take the LoadTest: it breaks
	// a rule, an admission policy or a quota. It is tried again, at most every five minutes.
	ReasonRunRefused = "RunRefused"
	// ReasonTooManyActive surfaces when a LoadTest is due beside 100 of this schedule that have
	// not finished.
	ReasonTooManyActive = "TooManyActive"
	// ReasonNameTaken surfaces when a LoadTest that is not of this schedule has the name.
	ReasonNameTaken = "NameTaken"
	// ReasonWorkloadNotFound surfaces when the workload of onRollout is not there.
	ReasonWorkloadNotFound = "WorkloadNotFound"
	// ReasonWorkloadForbidden surfaces when the operator may not read the workload of
	// onRollout.
	ReasonWorkloadForbidden = "WorkloadForbidden"
)
