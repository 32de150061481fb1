package v1beta1

// Queue decides a run's place among the waiting runs. A run waits while its namespace or
// the cluster has as many runs, or workers, as the administrator allows.
type Queue struct {
	// priorityClass is a priority class of the operator's configuration, not a PriorityClass
	// of Kubernetes: pods do not have it. Runs of a higher class come before runs of a lower
	// one. Absent: the priority is 0. Example: release-gate.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	PriorityClass string `json:"priorityClass,omitempty"`
}

// Queued: does the run wait for others to end?
const (
	// ConditionQueued is True while the run waits in the queue, and False once it has
	// begun after that. Absent of a run that did not have to wait. Its message has the
	// place, which is written anew every few seconds at most.
	ConditionQueued = "Queued"
	// ReasonNamespaceWorkers surfaces while the namespace would have more workers than it may
	// have if the run began.
	ReasonNamespaceWorkers = "NamespaceWorkers"
	// ReasonNamespaceRuns surfaces while the namespace has as many runs as it may have.
	// The place is that among the runs of the namespace that wait.
	ReasonNamespaceRuns = "NamespaceRuns"
	// ReasonClusterRuns surfaces while the cluster has as many runs as it may have.
	ReasonClusterRuns = "ClusterRuns"
	// ReasonClusterWorkers surfaces while too few workers are free in the cluster, or
	// those that are free are for a run before this one.
	ReasonClusterWorkers = "ClusterWorkers"
	// ReasonGaveWay surfaces when the workers of a run that had begun did not become ready for
	// two minutes, as without nodes or quota for them, and it gave its place to runs that wait.
	ReasonGaveWay = "GaveWay"
	// ReasonBegun surfaces when the run has begun.
	ReasonBegun = "Begun"
)
