package v1beta1

// ResultRef names where the results of a step are that are too large for a status.
type ResultRef struct {
	// step is the name of the step in status.steps.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Step string `json:"step"`
	// configMap is the name of a ConfigMap of the same namespace, which belongs to the
	// LoadTest and goes with it. Its binaryData has step.json.gz, JSON compressed with
	// gzip, which docs/results-format.md describes. Absent when it could not be stored.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ConfigMap string `json:"configMap,omitempty"`
	// sha256 is the SHA-256 of that step.json.gz as the operator stored it, in hexadecimal:
	// a ConfigMap can be deleted and made anew, and readers refuse one that differs. Absent
	// without a ConfigMap.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[0-9a-f]{64}$`
	SHA256 string `json:"sha256,omitempty"`
	// message says why there is no ConfigMap. Absent when there is one.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Message string `json:"message,omitempty"`
}
