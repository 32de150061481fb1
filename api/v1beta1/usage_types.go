package v1beta1

// StepUsage is what the target's pods used in a step, by the resource metrics API.
//
// Only readings count that cover no other time than the step's window.
type StepUsage struct {
	// problem is why there is no reading.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Problem string `json:"problem,omitempty"`
	// containers are those nearest to their limit of CPU.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=4
	Containers []ContainerUsage `json:"containers,omitempty"`
}

// ContainerUsage is what a container used in a step, in all pods of the target.
type ContainerUsage struct {
	// name is the container's.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// readings is how many there were.
	// +optional
	Readings int32 `json:"readings,omitempty"`
	// cpu is the mean of the pod with the highest mean: 412m.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	CPU string `json:"cpu,omitempty"`
	// mostCPU is the highest reading.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	MostCPU string `json:"mostCPU,omitempty"`
	// cpuLimit is absent if pods differ in it.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	CPULimit string `json:"cpuLimit,omitempty"`
	// mostMemory is the highest reading: 64Mi.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	MostMemory string `json:"mostMemory,omitempty"`
	// memoryLimit is absent if pods differ in it.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	MemoryLimit string `json:"memoryLimit,omitempty"`
	// outOfMemory says that it was ended for its use of memory.
	// +optional
	OutOfMemory bool `json:"outOfMemory,omitempty"`
}

// QueryResult is the administrator's Prometheus' answer over a step's window.
type QueryResult struct {
	// name is that of a query of the operator's configuration.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// value is the answer.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Value string `json:"value,omitempty"`
	// limit is that of the configuration.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Limit string `json:"limit,omitempty"`
	// problem is why there is no value.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Problem string `json:"problem,omitempty"`
}
