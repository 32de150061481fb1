package v1beta1

// Content is what a key of a ConfigMap or a Secret, or a file of a volume, holds: rows, a body,
// targets, certificates, descriptors.
//
// The kubelet mounts it into the workers; the operator never
// reads it. The permission to create LoadTests in a namespace is therefore one to
// send its Secrets to the target, as the permission to create pods is.
//
// +kubebuilder:validation:XValidation:rule="[has(self.configMap), has(self.secret), has(self.volume)].exists_one(set, set)",message="exactly one of configMap, secret and volume must be set, such as configMap: {name: rows, key: users.csv}"
type Content struct {
	// configMap is a key of a ConfigMap of the LoadTest's namespace.
	// +optional
	ConfigMap *KeyReference `json:"configMap,omitempty"`

	// secret is a key of a Secret of the LoadTest's namespace.
	// +optional
	Secret *KeyReference `json:"secret,omitempty"`

	// volume is a file of a PersistentVolumeClaim, for more than the 1 MiB of a ConfigMap.
	// +optional
	Volume *VolumeFile `json:"volume,omitempty"`
}

// VolumeFile names a file of a PersistentVolumeClaim of the LoadTest's namespace, which the
// workers mount to read: its access mode must permit that on each of their nodes.
type VolumeFile struct {
	// claim is the claim's name, which begins with loadtest- unless a rule of the administrator
	// permits others.
	// +required
	Claim ObjectName `json:"claim"`

	// path is that of the file in the volume. Example: rows/users.csv.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-_a-zA-Z0-9.]*[-_a-zA-Z0-9](/[-_a-zA-Z0-9.]*[-_a-zA-Z0-9])*$`
	Path string `json:"path"`
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

// ObjectName is the name of a ConfigMap, a Secret or a PersistentVolumeClaim.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=253
// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
type ObjectName string
