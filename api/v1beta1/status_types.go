package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LoadTestStatus is what was observed of a run.
type LoadTestStatus struct {
	// observedGeneration is the generation of the spec that this status is about. It
	// is -1 before the operator has seen the LoadTest.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// phase sums the conditions up for people; programs read the conditions.
	// +optional
	Phase Phase `json:"phase,omitempty"`

	// verdict is the judgement of the run. Absent while it is not finished.
	// +optional
	Verdict Verdict `json:"verdict,omitempty"`

	// conditions are the state of the run, one for each question. Finished becomes True after
	// every run, and Passed says whether the target passed. Reconciling is True until then, and
	// Stalled after every verdict but Passed: so kstatus, and Flux with it, takes only a run
	// that passed for ready.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// startTime is when the operator took the run up, after its wait in the queue. It is
	// set anew when a run that was suspended before its first step is resumed.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// completionTime is when the run finished, in whatever way.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// currentStep is the index, from 0, of the step that runs or runs next.
	// +optional
	CurrentStep int32 `json:"currentStep,omitempty"`

	// workers counts the workers by state.
	// +optional
	Workers WorkerCounts `json:"workers,omitzero"`

	// targetURL is scheme and host of what the workers send to. It is absent until the
	// number of a named port is known. Example: http://shortener.default.svc:80.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	TargetURL string `json:"targetURL,omitempty"`

	// otherTargets are the same for spec.otherTargets, in their order, without the one that
	// versus names.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=4
	OtherTargets []OtherTargetStatus `json:"otherTargets,omitempty"`

	// descriptors is the digest of the descriptors by which all workers encode calls of
	// gRPC: equal digests are equal services and messages. Absent until the first step, and
	// without calls. Example: sha256:9f86d081884c7d65….
	// +optional
	// +kubebuilder:validation:MaxLength=71
	Descriptors string `json:"descriptors,omitempty"`

	// requests are the names and types of spec.requests, in the same order, with
	// their defaults.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Requests []RequestStatus `json:"requests,omitempty"`

	// baseline is what was copied of spec.baseline. Absent until it was read, and without
	// one.
	// +optional
	Baseline *BaselineStatus `json:"baseline,omitempty"`

	// versus is what the two targets of spec.versus are called. Absent without one.
	// +optional
	Versus *VersusStatus `json:"versus,omitempty"`

	// environment is what was tested: the pods behind the target's Service. Absent if the
	// target is a URL, if the operator is set not to read them, and without a cluster.
	// +optional
	Environment *EnvironmentStatus `json:"environment,omitempty"`

	// summary is the line that kubectl get prints.
	// +optional
	Summary Summary `json:"summary,omitzero"`

	// steps are the steps of the run in order, with what was measured. A search appends
	// its probes, one after another.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=128
	Steps []StepStatus `json:"steps,omitempty"`

	// spread is how far the repetitions of a step differ. Absent with fewer than
	// two of them.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Spread []SpreadStatus `json:"spread,omitempty"`

	// resultRefs names, for each step that has ended with a measurement, where its
	// results are that are too large for a status: its histograms by request, and what
	// happened second by second. Steps are in the order in which they ended. Example:
	// {step: users-1000, configMap: checkout-2-9f86d081884c7d65}.
	// +optional
	// +listType=map
	// +listMapKey=step
	// +kubebuilder:validation:MaxItems=128
	ResultRefs []ResultRef `json:"resultRefs,omitempty"`

	// thresholds are the results of spec.thresholds, in the same order, and then those
	// of the default thresholds. Absent before the operator took the run up.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=34
	Thresholds []ThresholdStatus `json:"thresholds,omitempty"`

	// audits are the results of the audits of spec.audits with stored, in the same order.
	// Absent before the operator accepts the run.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Audits []AuditStatus `json:"audits,omitempty"`

	// maxSustainedUsers is the largest number of users of a step up to which every
	// threshold was kept, in every repetition, and outstanding requests did not grow, for
	// the step's duration or a search's hold. Without spec.thresholds the defaults count.
	// Absent: none, or a search was given up.
	// +optional
	MaxSustainedUsers *int32 `json:"maxSustainedUsers,omitempty"`

	// maxSustainedRate is the largest rate of a step, in requests per second (with spec.journeys, in
	// sessions per second), up to which every threshold was kept, by the same rule as maxSustainedUsers: "1000". A
	// ramp does not count.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	MaxSustainedRate string `json:"maxSustainedRate,omitempty"`

	// why says what was at its limit in the first step that was not kept.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Why string `json:"why,omitempty"`

	// search is how spec.search is carried out, and what it has found. Absent without
	// one.
	// +optional
	Search *SearchStatus `json:"search,omitempty"`

	// loads are how far spec.loads are, in the same order. Absent without them.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	Loads []LoadStatus `json:"loads,omitempty"`

	// together is what was measured in all loads. Absent until all have ended.
	// +optional
	Together *LoadResult `json:"together,omitempty"`

	// internal is what the operator notes for itself, to go on from. Nothing is promised
	// about it: it changes with any release.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Internal InternalStatus `json:"internal,omitzero"`
}

// StopCause is why the operator's configuration ended a run.
type StopCause struct {
	// reason is Stopped, QuietHours or HeldTooLong.
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason"`

	// message says by whom and why, as far as the configuration does, or until when the
	// quiet hours are.
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message"`
}

// Phase sums up the conditions.
//
// +kubebuilder:validation:Enum=Pending;Queued;Suspended;Starting;Running;Finished
type Phase string

const (
	// PhasePending is before the operator has taken the run up.
	PhasePending Phase = "Pending"
	// PhaseQueued is while the run waits for others to end.
	PhaseQueued Phase = "Queued"
	// PhaseSuspended is while spec.suspend, or the administrator, holds the run.
	PhaseSuspended Phase = "Suspended"
	// PhaseStarting is while workers are created and become ready.
	PhaseStarting Phase = "Starting"
	// PhaseRunning is from the first step to the last.
	PhaseRunning Phase = "Running"
	// PhaseFinished is after a run: condition CarriedOut says whether it went to its end, and
	// the verdict what came of it.
	PhaseFinished Phase = "Finished"
)

// Phases are all phases, in the order in which a run may be in them.
func Phases() []Phase {
	return []Phase{PhasePending, PhaseQueued, PhaseSuspended, PhaseStarting, PhaseRunning, PhaseFinished}
}

// Verdict is the judgement of a run.
//
// +kubebuilder:validation:Enum=Passed;Failed;Inconclusive;Canceled;Error
type Verdict string

const (
	// VerdictPassed means that every threshold was kept.
	VerdictPassed Verdict = "Passed"
	// VerdictFailed means that the target breached a threshold.
	VerdictFailed Verdict = "Failed"
	// VerdictInconclusive means that the result does not speak of the target:
	// the load was not the planned one, the generator's own delay decides, a worker was
	// lost, or samples were too few.
	VerdictInconclusive Verdict = "Inconclusive"
	// VerdictCanceled means that spec.terminate ended the run.
	VerdictCanceled Verdict = "Canceled"
	// VerdictError means that the run could not be carried out.
	VerdictError Verdict = "Error"
)

// Verdicts are all verdicts.
func Verdicts() []Verdict {
	return []Verdict{VerdictPassed, VerdictFailed, VerdictInconclusive, VerdictCanceled, VerdictError}
}

// RequestStatus is what reports and thresholds call a request.
type RequestStatus struct {
	// name is the request's name.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// type is the label under which reports add requests up.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Type string `json:"type,omitempty"`
}

// WorkerCounts counts workers by state.
type WorkerCounts struct {
	// desired is the number of workers that the run has.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Desired int32 `json:"desired,omitempty"`
	// ready is the number of workers that are connected and ready to send load.
	// +optional
	Ready int32 `json:"ready,omitempty"`
	// silent is the number of workers that are not connected for the moment, while their pods run. They
	// measure on, and are waited for until the time limit of the step.
	// +optional
	Silent int32 `json:"silent,omitempty"`
	// lost is the number of workers that ended before the run did, or were silent for too long.
	// +optional
	Lost int32 `json:"lost,omitempty"`
}

// Summary is the line that kubectl get prints, as strings for people. Its figures
// belong to the step that step names; with spec.versus, to the latest step of the
// candidate.
type Summary struct {
	// step is the number of the latest step that has begun, and the number of all
	// steps: "3/6". Pauses do not count as steps here. While the run waits in the queue, it
	// is the run's place: "place 3 of 7".
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Step string `json:"step,omitempty"`
	// workers is the number of ready and of desired workers: "8/8".
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Workers string `json:"workers,omitzero"`
	// goodput is the successes per second of that step: "9998/s". Absent
	// before its first report.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Goodput string `json:"goodput,omitempty"`
	// p95 is the 95th percentile of response time of that step: "41ms". Absent when it
	// has too few samples.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	P95 string `json:"p95,omitempty"`
	// errors is the share of that step's requests that failed: "0.03%". Undecided
	// requests do not count.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Errors string `json:"errors,omitempty"`
	// p99 is the 99th percentile of response time of that step: "63ms". Absent when it
	// has too few samples.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	P99 string `json:"p99,omitempty"`
	// unsent is the share of that step's due requests that were never sent: "0.5%".
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Unsent string `json:"unsent,omitempty"`
	// sustained is the largest load up to which every threshold was kept: "100 users", "384/s". Of
	// a search that goes on, it is the highest load that was kept so far. Absent: none yet.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Sustained string `json:"sustained,omitempty"`
	// reason is that of the condition which says most of the run: why it waits, why it could
	// not go to its end, or how it was judged. Absent while nothing hinders it.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`
}
