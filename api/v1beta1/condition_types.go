package v1beta1

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Accepted: can the operator carry the spec out?
const (
	// ConditionAccepted is True when the spec can be carried out.
	ConditionAccepted = "Accepted"
	// ReasonAccepted surfaces when the spec can be carried out.
	ReasonAccepted = "Accepted"
	// ReasonTargetNotAllowed surfaces when the administrator does not allow the
	// target's host.
	ReasonTargetNotAllowed = "TargetNotAllowed"
	// ReasonTargetGone surfaces when the Service under test was deleted, or replaced by
	// another of its name, while the run went on.
	ReasonTargetGone = "TargetGone"
	// ReasonLimitExceeded surfaces when the run would be larger than the administrator
	// allows: its users, rate, bytes per second, workers or duration.
	ReasonLimitExceeded = "LimitExceeded"
	// ReasonWorkerNotAllowed surfaces when the administrator does not allow what
	// spec.worker asks for, or a Secret that the spec names.
	ReasonWorkerNotAllowed = "WorkerNotAllowed"
	// ReasonQueryNotAllowed surfaces when a threshold names a query that the administrator
	// does not have for the namespace.
	ReasonQueryNotAllowed = "QueryNotAllowed"
	// ReasonInvalidSpec surfaces when something only the operator can see is
	// wrong, such as a template that does not parse.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonBaselineRefused surfaces when the LoadTest of spec.baseline cannot be
	// compared with: its verdict, its load or its requests are not what they must be.
	ReasonBaselineRefused = "BaselineRefused"
)

// TargetVerified: is the target the one that was meant?
const (
	// ConditionTargetVerified is True once every worker has had the answers that
	// spec.preflight expects, False when one had another, Unknown before that and
	// without spec.preflight.
	ConditionTargetVerified = "TargetVerified"
	// ReasonPreflightPassed surfaces when all answers were as expected.
	ReasonPreflightPassed = "PreflightPassed"
	// ReasonPreflightFailed surfaces when an answer was not. It is the reason of
	// conditions WorkersReady and CarriedOut, too.
	ReasonPreflightFailed = "PreflightFailed"
	// ReasonPreflightPending surfaces before the target has been asked.
	ReasonPreflightPending = "PreflightPending"
	// ReasonNoPreflight surfaces when there is nothing to ask.
	ReasonNoPreflight = "NoPreflight"
)

// WorkersReady: are all workers there and ready?
const (
	// ConditionWorkersReady is True while all workers are ready, and after a run
	// in which none was lost.
	ConditionWorkersReady = "WorkersReady"
	// ReasonAllReady surfaces when all workers are ready.
	ReasonAllReady = "AllReady"
	// ReasonWaiting surfaces while workers start, with nothing known to hinder.
	ReasonWaiting = "Waiting"
	// ReasonUnschedulable surfaces when a worker waits for a node.
	ReasonUnschedulable = "Unschedulable"
	// ReasonImagePull surfaces when a worker's image cannot be pulled.
	ReasonImagePull = "ImagePull"
	// ReasonCreateRefused surfaces when the Job or the worker pods cannot be created:
	// a quota, an admission policy, or a field of spec.worker that is invalid.
	ReasonCreateRefused = "CreateRefused"
	// ReasonBaselinePending surfaces while the LoadTest of spec.baseline is not there, or
	// has not finished.
	ReasonBaselinePending = "BaselinePending"
	// ReasonTargetUnreachable surfaces when a worker cannot resolve the target's
	// host or may not connect to its address, and when the target does not answer
	// a question of spec.preflight or says that it is not ready.
	ReasonTargetUnreachable = "TargetUnreachable"
	// ReasonSetupFailed surfaces when a request of spec.setup.fill got another response than
	// expected, or one that lacks what is captured.
	ReasonSetupFailed = "SetupFailed"
	// ReasonWorkerRefused surfaces when a worker refuses its share, for example
	// because it has too few file descriptors.
	ReasonWorkerRefused = "WorkerRefused"
	// ReasonDescriptorsDiffer surfaces when workers would encode calls of gRPC by different
	// descriptors, since the target's replicas gave them different ones, or what
	// descriptorsFrom names was changed while the workers started.
	ReasonDescriptorsDiffer = "DescriptorsDiffer"
	// ReasonWorkerSilent surfaces while a worker is not connected although its pod
	// runs. It measures on, and is waited for until the time limit of the step.
	ReasonWorkerSilent = "WorkerSilent"
	// ReasonWorkerLost surfaces when a worker ended before the run did, or was silent
	// for too long.
	ReasonWorkerLost = "WorkerLost"
)

// Suspended: does spec.suspend, or the administrator's configuration, hold the run?
const (
	// ConditionSuspended is True while the run is held.
	ConditionSuspended = "Suspended"
	// ReasonSuspended surfaces while spec.suspend holds the run.
	ReasonSuspended = "Suspended"
	// ReasonConfigurationInvalid surfaces on a run that has not begun while the operator
	// has no valid configuration.
	ReasonConfigurationInvalid = "ConfigurationInvalid"
	// ReasonStopped surfaces on a run that has not begun while the administrator's stop
	// is in force, and in condition CarriedOut of one that the stop ended.
	ReasonStopped = "Stopped"
	// ReasonQuietHours surfaces in the same places during quiet hours.
	ReasonQuietHours = "QuietHours"
	// ReasonResumed surfaces when the run is not held any more.
	ReasonResumed = "Resumed"
)

// GeneratorHealthy: is what was measured free of the generator's own delay?
const (
	// ConditionGeneratorHealthy is False when the generator's own delay shows in what was
	// measured in a step, or when it decides a threshold, however short it was. That alone
	// decides no verdict: see ReasonGeneratorUncertain and ReasonLoadDisplaced.
	ConditionGeneratorHealthy = "GeneratorHealthy"
	// ReasonHealthy surfaces when the generator's delay neither shows nor decides.
	ReasonHealthy = "Healthy"
	// ReasonScheduleLag surfaces when the generator sent late by its own fault.
	ReasonScheduleLag = "ScheduleLag"
	// ReasonNodeBusy surfaces when the generator sent late because a worker's threads
	// waited for a processor.
	ReasonNodeBusy = "NodeBusy"
	// ReasonReadLag surfaces when the generator read responses late by its own fault.
	ReasonReadLag = "ReadLag"
	// ReasonCPUThrottled surfaces when CPU limits held the workers back.
	ReasonCPUThrottled = "CPUThrottled"
	// ReasonDescriptorsExhausted surfaces when a worker could not connect because
	// it had no file descriptor left.
	ReasonDescriptorsExhausted = "DescriptorsExhausted"
	// ReasonPortsExhausted surfaces when a worker could not connect because it had
	// no local port left.
	ReasonPortsExhausted = "PortsExhausted"
)

// ThresholdsMet: did the target keep what was asked?
const (
	// ConditionThresholdsMet is True when every threshold was kept, False when
	// one was breached, Unknown when that cannot be said.
	ConditionThresholdsMet = "ThresholdsMet"
	// ReasonThresholdsKept surfaces when every threshold was kept.
	ReasonThresholdsKept = "ThresholdsKept"
	// ReasonThresholdBreached surfaces when a threshold was breached.
	ReasonThresholdBreached = "ThresholdBreached"
	// ReasonTargetDown surfaces when the breached threshold is on downtime: the target did
	// not answer for a part of a step.
	ReasonTargetDown = "TargetDown"
	// ReasonAuditFailed surfaces when an audit found that the target lost data, or stored
	// more than it was sent. It is a reason of condition AuditsPassed, too.
	ReasonAuditFailed = "AuditFailed"
	// ReasonLoadDisplaced surfaces when the generator did not send the load that was
	// planned: too much of it was not sent, or sent too late.
	ReasonLoadDisplaced = "LoadDisplaced"
	// ReasonGeneratorUncertain surfaces when a threshold is kept without the generator's
	// own delay, and breached with it.
	ReasonGeneratorUncertain = "GeneratorUncertain"
	// ReasonLoadNotKept surfaces when every threshold was kept at the min of a search, and
	// outstanding requests became more and more: it is a matter of time until one is breached.
	ReasonLoadNotKept = "LoadNotKept"
	// ReasonInconclusive surfaces when the result does not speak of the target.
	ReasonInconclusive = "Inconclusive"
	// ReasonTargetChanged surfaces when the target was changed while it was tested: its
	// images, its limits or the number of its pods.
	ReasonTargetChanged = "TargetChanged"
	// ReasonStepCut surfaces when a step did not run as planned. With
	// ReasonWorkerLost, a worker was lost in it.
	ReasonStepCut = "StepCut"
	// ReasonNotFinished surfaces before a run has finished, and when it ended before it could be
	// judged.
	ReasonNotFinished = "NotFinished"
)

// AuditsPassed: is what the target stored what it acknowledged? Absent when no audit of
// spec.audits has stored.
const (
	// ConditionAuditsPassed is True when every audit passed, False when one failed,
	// Unknown before the end and when an audit could not be made.
	ConditionAuditsPassed = "AuditsPassed"
	// ReasonAuditsPassed surfaces when every audit passed.
	ReasonAuditsPassed = "AuditsPassed"
	// ReasonAuditsPending surfaces before the numbers were read for the second time.
	ReasonAuditsPending = "AuditsPending"
	// ReasonAuditInconclusive surfaces when a number could not be read or compared.
	ReasonAuditInconclusive = "AuditInconclusive"
)

// CarriedOut: did the run go to its end? Absent before it has finished: nobody would read an
// Unknown, since who waits for the end reads Finished, and who waits for the verdict Passed.
const (
	// ConditionCarriedOut is True when the run went to its end, whatever the verdict, and False
	// when it could not: the verdict is Error or Canceled then. It stays. Its reason is one of
	// those below, or, of False, TargetNotAllowed, LimitExceeded, WorkerNotAllowed, InvalidSpec
	// or BaselineRefused, too.
	ConditionCarriedOut = "CarriedOut"
	// ReasonLoadsApart surfaces when one of spec.loads began later than it was to.
	ReasonLoadsApart = "LoadsApart"
	// ReasonEndedWithOthers surfaces when a load in the background ended with the others.
	ReasonEndedWithOthers = "EndedWithOthers"
	// ReasonLoadsEnded surfaces when one of spec.loads could not be carried out, and the others were ended.
	ReasonLoadsEnded = "LoadsEnded"
	// ReasonLoadDeleted surfaces when the LoadTest of one of spec.loads was deleted.
	ReasonLoadDeleted = "LoadDeleted"
	// ReasonAllStepsRan surfaces when all steps ran.
	ReasonAllStepsRan = "AllStepsRan"
	// ReasonStoppedOnBreach surfaces when steps were skipped after a breach.
	ReasonStoppedOnBreach = "StoppedOnBreach"
	// ReasonAborted surfaces when a step was cut while it ran, and what follows was
	// skipped, because of a threshold whose onBreach is Abort.
	ReasonAborted = "Aborted"
	// ReasonStoppedOnWorkerLoss surfaces when steps were skipped because a worker
	// was lost.
	ReasonStoppedOnWorkerLoss = "StoppedOnWorkerLoss"
	// ReasonStoppedOnCutStep surfaces when steps were skipped because one was not
	// carried out as it was planned, although no worker was lost.
	ReasonStoppedOnCutStep = "StoppedOnCutStep"

	// ReasonStartDeadlineExceeded surfaces when the workers were not ready in time.
	ReasonStartDeadlineExceeded = "StartDeadlineExceeded"
	// ReasonDeadlineExceeded surfaces when activeDeadlineSeconds ran out.
	ReasonDeadlineExceeded = "DeadlineExceeded"
	// ReasonTerminated surfaces when spec.terminate ended the run.
	ReasonTerminated = "Terminated"
	// ReasonHeldTooLong surfaces when spec.suspend held the run between two steps, or with spec.loads
	// since it began, for longer than the administrator allows.
	ReasonHeldTooLong = "HeldTooLong"
	// ReasonInvalidResult surfaces when what the workers reported cannot be merged.
	ReasonInvalidResult = "InvalidResult"
	// ReasonStatusRefused surfaces when the API server does not take the status.
	ReasonStatusRefused = "StatusRefused"
	// ReasonInternalError surfaces when the operator fails on the run: a bug.
	ReasonInternalError = "InternalError"
	// ReasonInvalidStatus surfaces when the status contradicts itself, which only one
	// that was edited or restored by hand does: the run cannot go on from it.
	ReasonInvalidStatus = "InvalidStatus"
	// ReasonNoWorkers surfaces when every worker was lost.
	ReasonNoWorkers = "NoWorkers"
)

// Finished: is the run over?
//
// ConditionFinished becomes True at the end of every run, together with CarriedOut, and stays.
// Its reason is the verdict. A client that waits for the end of a run waits for this condition.
const ConditionFinished = "Finished"

// Passed: did the target pass?
//
// ConditionPassed is Unknown, with reason NotFinished, until the run has finished. Then its
// reason is the verdict: it is True for Passed, False for Failed, and Unknown for
// Inconclusive, Canceled and Error, which do not say.
const ConditionPassed = "Passed"

// Reconciling and Stalled follow the conventions of kstatus, by which Flux and other
// tools read the state of any object. Each of them is True or absent.
const (
	// ConditionReconciling is True until the run has finished, also while it is
	// suspended. Its reason is the phase.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is True after a run whose verdict is not Passed: Failed,
	// Inconclusive, Canceled and Error do not show that the target is good enough, so
	// that a pipeline which waits for the run should stop. Its reason is the verdict.
	ConditionStalled = "Stalled"
)

// Archived: are the results kept where the administrator has them kept? Absent when they are
// not to be, and before the first attempt.
const (
	// ConditionArchived is True once the results of the finished run are kept beyond the
	// LoadTest: its message says where, how large they are, and their SHA-256.
	ConditionArchived = "Archived"
	// ReasonArchived surfaces when they are.
	ReasonArchived = "Archived"
	// ReasonArchiveFailed surfaces when the latest attempt failed. More follow, and the
	// LoadTest is kept for an hour, or what the administrator says, beyond
	// ttlSecondsAfterFinished meanwhile.
	ReasonArchiveFailed = "ArchiveFailed"
)

// Announced: was the verdict sent to the administrator's webhook? Absent when there is
// none, and before the first attempt.
const (
	// ConditionAnnounced is True once the webhook has taken the verdict.
	ConditionAnnounced = "Announced"
	// ReasonAnnounced surfaces when it has.
	ReasonAnnounced = "Announced"
	// ReasonAnnouncementFailed surfaces when the latest attempt failed.
	ReasonAnnouncementFailed = "AnnouncementFailed"
)

// NotCarriedOut is the condition that says why a run could not go to its end; nil: it did, or
// it has not finished.
func NotCarriedOut(conditions []metav1.Condition) *metav1.Condition {
	if c := meta.FindStatusCondition(conditions, ConditionCarriedOut); c != nil && c.Status == metav1.ConditionFalse {
		return c
	}
	return nil
}
