package v1beta1

// Content is what a key of a ConfigMap or a Secret holds: rows, a body, targets, certificates,
// descriptors.
//
// The kubelet mounts it into the workers, and only that key; the operator never
// reads it. The permission to create LoadTests in a namespace is therefore one to
// send its Secrets to the target, as the permission to create pods is.
//
// +kubebuilder:validation:XValidation:rule="has(self.configMap) != has(self.secret)",message="exactly one of configMap and secret must be set, such as configMap: {name: rows, key: users.csv}"
type Content struct {
	// configMap is a key of a ConfigMap of the LoadTest's namespace.
	// +optional
	ConfigMap *KeyReference `json:"configMap,omitempty"`

	// secret is a key of a Secret of the LoadTest's namespace.
	// +optional
	Secret *KeyReference `json:"secret,omitempty"`
}

// KeyReference names a key of a ConfigMap or Secret.
type KeyReference struct {
	// name is the object's name.
	// +required
	Name ObjectName `json:"name"`

	// key is the key in its data.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[.]?[-_a-zA-Z0-9][-._a-zA-Z0-9]*$`
	Key string `json:"key"`
}

// ObjectName is the name of a ConfigMap or Secret.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=253
// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
type ObjectName string
