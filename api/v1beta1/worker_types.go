package v1beta1

import corev1 "k8s.io/api/core/v1"

// Worker adjusts the pods that send the load.
type Worker struct {
	// image is the worker's image. Absent: the one of the operator's release.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// imagePullPolicy is as in a container. Absent: IfNotPresent.
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	// resources are the resources of the worker container. A CPU limit throttles the
	// generator; the result then says so. Absent: requests of 100m CPU and 128Mi
	// memory, no limits.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// driver is what drives the load. Vegeta sends rates only. Default Auto.
	// +optional
	// +kubebuilder:default=Auto
	Driver Driver `json:"driver,omitempty"`

	// nodeSelector restricts the nodes on which workers run.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 317 && size(self[k]) <= 63)",message="nodeSelector must have keys of at most 317 and values of at most 63 characters"
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// tolerations allow workers on tainted nodes.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// labels are added to the workers' pods, with the keys that the administrator allows. Example:
	// {sidecar.istio.io/inject: "false"}.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 317 && size(self[k]) <= 63)",message="labels must have keys of at most 317 and values of at most 63 characters"
	Labels map[string]string `json:"labels,omitempty"`

	// annotations are added to the workers' pods, with the keys that the administrator allows.
	// Example: {linkerd.io/inject: disabled}.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 317 && size(self[k]) <= 1024)",message="annotations must have keys of at most 317 and values of at most 1024 characters"
	Annotations map[string]string `json:"annotations,omitempty"`

	// priorityClassName is a PriorityClass for the workers' pods that the administrator allows.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// imagePullSecrets are Secrets of the LoadTest's namespace with which image is pulled.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	ImagePullSecrets []string `json:"imagePullSecrets,omitempty"`

	// spreadOver is a label of nodes over whose values workers are spread as evenly as can be, and
	// over nodes in each. Absent: over nodes. Example: topology.kubernetes.io/zone.
	// +optional
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^([a-z0-9.-]+/)?[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$`
	SpreadOver string `json:"spreadOver,omitempty"`

	// awayFrom are labels of pods of the LoadTest's namespace. Workers run on nodes without such a
	// pod as far as there are any. Example: {app: shortener}.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 317 && size(self[k]) <= 63)",message="awayFrom must have keys of at most 317 and values of at most 63 characters"
	AwayFrom map[string]string `json:"awayFrom,omitempty"`

	// ndots is how many dots a host must have to be looked up as it is, before the search domains of
	// the cluster are tried. Absent: 5, as in any pod. Example: 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=15
	Ndots *int32 `json:"ndots,omitempty"`

	// onLoss is what becomes of a run that has begun when a worker is lost. Stop ends it
	// with the step that runs. Continue goes on with the workers that are left, each with
	// the share that it had; the verdict then says how much of the plan was measured, and
	// is never Passed. Default Stop. Example: Continue.
	// +optional
	// +kubebuilder:default=Stop
	OnLoss LossPolicy `json:"onLoss,omitempty"`
}

// LossPolicy is what becomes of a run when a worker is lost.
//
// +kubebuilder:validation:Enum=Stop;Continue
type LossPolicy string

const (
	// LossStop ends the run with the step in which the worker was lost.
	LossStop LossPolicy = "Stop"
	// LossContinue goes on with the workers that are left. The steps from the loss on are
	// Cut, as less load than planned is sent. They are judged: a breach under less load is
	// a breach, and Failed. Where every threshold was kept the verdict is Inconclusive, as
	// it is not known what the whole load would have done.
	LossContinue LossPolicy = "Continue"
)
