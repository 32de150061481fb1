package workerv1

import "time"

const (
	// ProtocolVersion is the version of the session protocol, which Hello carries. The
	// coordinator works with the one before and the one after, so that an upgrade ends no run, and
	// refuses all others. A worker refuses an assignment with a field that it does not know before
	// it is ready: a field is set only if the spec asks for it, so that an upgrade ends no run that
	// does not. Of other messages it ignores such fields: what it cannot do then, it must be seen
	// to lack, as by Readiness.targets. The version is raised when that is not enough: by two, if
	// neither side can work with the version before. 5 packed histograms in another form; it was never released.
	ProtocolVersion = 7

	// ServerName is the name in the coordinator's certificate. Workers verify it
	// whatever address they dial.
	ServerName = "coordinator.loadtest.dev"
	// Audience is that of the workers' tokens: they are good for the coordinator
	// and for nothing else.
	Audience = "coordinator.loadtest.dev"

	// MaxWorkers is the most workers that a run may have.
	MaxWorkers = 1000

	// PingEvery and PingTimeout are how both sides notice a peer that is gone
	// without a word: within their sum.
	PingEvery   = 10 * time.Second
	PingTimeout = 5 * time.Second
)

// Reasons of a Readiness: those of the API's conditions, which they become.
const (
	// ReasonInvalidSpec is an assignment that no worker can carry out.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonTargetUnreachable is a target that cannot be resolved or connected to.
	// The worker tries again by itself.
	ReasonTargetUnreachable = "TargetUnreachable"
	// ReasonPreflightFailed is an answer other than the preflight expects.
	ReasonPreflightFailed = "PreflightFailed"
	// ReasonSetupFailed is a response to a request of the setup that does not fill the target.
	ReasonSetupFailed = "SetupFailed"
	// ReasonWorkerRefused is an assignment that is too large for this worker.
	ReasonWorkerRefused = "WorkerRefused"
)
