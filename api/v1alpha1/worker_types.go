package v1alpha1

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

	// resources are those of the worker container. A CPU limit throttles the
	// generator, which the result then says. Absent: requests of 100m CPU and 128Mi
	// memory, no limits.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

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
}
