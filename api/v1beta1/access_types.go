package v1beta1

// TargetAccess is where the workers may connect to for a target, as it was allowed when the
// run began: for one behind a proxy, the proxy. They connect to nothing else, whatever the
// names of the target come to lead to.
type TargetAccess struct {
	// name is the absolute name that the workers look up. Absent: the host is an address.
	// Example: shortener.default.svc.cluster.local.
	// +optional
	// +kubebuilder:validation:MaxLength=254
	Name string `json:"name,omitempty"`

	// serviceUID is the UID of the Service that was allowed. Absent: the target is none.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	ServiceUID string `json:"serviceUID,omitempty"`

	// allowed are ranges of addresses, each at a port. Absent with pods.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=512
	Allowed []AllowedAddresses `json:"allowed,omitempty"`

	// pods says that they may connect to the pods of a Service that has no address of its
	// own. The operator reads them again while the run goes on.
	// +optional
	Pods bool `json:"pods,omitempty"`
}

// AllowedAddresses are a range of addresses, at a port.
type AllowedAddresses struct {
	// range is the addresses. Absent: all public ones. Example: 10.96.12.7/32.
	// +optional
	// +kubebuilder:validation:MaxLength=49
	Range string `json:"range,omitempty"`

	// port is the port. Example: 8080.
	// +optional
	Port int32 `json:"port,omitempty"`
}

// HasAccess says whether it is known where the workers may connect to for each target.
func (s *LoadTestStatus) HasAccess() bool {
	return s.Internal.Access != nil && (s.Versus == nil || s.Internal.ControlAccess != nil) && len(s.Internal.OtherAccess) == len(s.OtherTargets)
}
