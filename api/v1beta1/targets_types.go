package v1beta1

// TargetsSource is a targets file as vegeta reads it: requests that are sent in turn.
//
// The kubelet mounts it into the workers, as that of bodyFrom.
//
// +kubebuilder:validation:XValidation:rule="has(self.configMapKeyRef) != has(self.secretKeyRef)",message="exactly one of configMapKeyRef and secretKeyRef must be set"
type TargetsSource struct {
	// configMapKeyRef is a key of a ConfigMap of the LoadTest's namespace.
	// +optional
	ConfigMapKeyRef *KeyReference `json:"configMapKeyRef,omitempty"`

	// secretKeyRef is a key of a Secret of the LoadTest's namespace.
	// +optional
	SecretKeyRef *KeyReference `json:"secretKeyRef,omitempty"`

	// format is how the file is written. In both, a URL must be a path, or have the
	// scheme and host of spec.target, and a body must be in the file. Default HTTP.
	// +optional
	Format TargetsFormat `json:"format,omitempty"`
}

// TargetsFormat is one of vegeta's formats of targets.
//
// +kubebuilder:validation:Enum=HTTP;JSON
type TargetsFormat string

const (
	// TargetsFormatHTTP has a method and a URL on a line, and headers on those after it.
	TargetsFormatHTTP TargetsFormat = "HTTP"
	// TargetsFormatJSON has an object on each line, with method, url, header, and body
	// in base64.
	TargetsFormatJSON TargetsFormat = "JSON"
)
