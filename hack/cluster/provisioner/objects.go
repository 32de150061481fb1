package provisioner

// Name is that of the provisioner in storage classes.
const Name = "loadtest.dev/local"

// claim has the fields of a PersistentVolumeClaim that matter here.
type claim struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		AccessModes      []string  `json:"accessModes"`
		Resources        resources `json:"resources"`
		StorageClassName string    `json:"storageClassName"`
		VolumeMode       string    `json:"volumeMode"`
		VolumeName       string    `json:"volumeName"`
	} `json:"spec"`
}

// volume has the fields of a PersistentVolume that matter here.
type volume struct {
	APIVersion string       `json:"apiVersion,omitempty"`
	Kind       string       `json:"kind,omitempty"`
	Metadata   metadata     `json:"metadata"`
	Spec       volumeSpec   `json:"spec"`
	Status     volumeStatus `json:"status,omitzero"`
}

type volumeSpec struct {
	AccessModes      []string          `json:"accessModes"`
	Capacity         map[string]string `json:"capacity"`
	ClaimRef         reference         `json:"claimRef"`
	Local            local             `json:"local"`
	NodeAffinity     affinity          `json:"nodeAffinity"`
	ReclaimPolicy    string            `json:"persistentVolumeReclaimPolicy"`
	StorageClassName string            `json:"storageClassName"`
}

type volumeStatus struct {
	Phase string `json:"phase,omitempty"`
}

type metadata struct {
	Name              string            `json:"name"`
	Namespace         string            `json:"namespace,omitempty"`
	UID               string            `json:"uid,omitempty"`
	Annotations       map[string]string `json:"annotations,omitempty"`
	DeletionTimestamp string            `json:"deletionTimestamp,omitempty"`
}

type resources struct {
	Requests map[string]string `json:"requests"`
}

type reference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
}

type local struct {
	Path string `json:"path"`
}

type affinity struct {
	Required struct {
		Terms []nodeSelectorTerm `json:"nodeSelectorTerms"`
	} `json:"required"`
}

type nodeSelectorTerm struct {
	Expressions []expression `json:"matchExpressions"`
}

type expression struct {
	Key      string `json:"key"`
	Operator string `json:"operator"`
}

// anyNode admits every node: a volume of the type local has to say which.
func anyNode() affinity {
	var a affinity
	a.Required.Terms = []nodeSelectorTerm{{Expressions: []expression{{Key: "kubernetes.io/hostname", Operator: "Exists"}}}}
	return a
}
