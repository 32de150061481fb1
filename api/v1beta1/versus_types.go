package v1beta1

import "slices"

// Versus is a second target that gets the same load in the same run: the control, with
// which the target of the spec, the candidate, is compared. Each step that sends load is
// planned twice in each repetition, once for either, one right after the other in an order
// that is drawn: so both share the time and its noise.
type Versus struct {
	// name is what reports and messages call the control. Absent: the name of its
	// Service, or its host. Example: v3.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=24
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9]([-._a-zA-Z0-9]*[a-zA-Z0-9])?$`
	Name string `json:"name,omitempty"`

	// target is the control. It may differ from spec.target in everything but timeout.
	// It gets the setup, too. Example: {service: {name: shortener-v3}}.
	// +required
	Target Target `json:"target"`

	// preflight is what the workers ask of the control, instead of spec.preflight: which
	// version it is, for example. Absent or empty: spec.preflight is asked of both.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Preflight []Preflight `json:"preflight,omitempty"`
}

// Side is which of the two targets of a comparison a step is sent to.
//
// +kubebuilder:validation:Enum=Candidate;Control
type Side string

const (
	// SideCandidate is spec.target, which the thresholds are about.
	SideCandidate Side = "Candidate"
	// SideControl is spec.versus.target, with which the candidate is compared.
	SideControl Side = "Control"
)

// KnowsTargets says whether it is known where to send the load.
func (s *LoadTestStatus) KnowsTargets() bool {
	return s.TargetURL != "" && (s.Versus == nil || s.Versus.TargetURL != "") &&
		!slices.ContainsFunc(s.OtherTargets, func(o OtherTargetStatus) bool { return o.TargetURL == "" })
}

// VersusStatus is what the two targets of a comparison are called.
type VersusStatus struct {
	// candidate is what messages call spec.target: the name of its Service, or its host.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Candidate string `json:"candidate"`
	// control is what they call spec.versus.target.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Control string `json:"control"`
	// targetURL is scheme and host of the control, as status.targetURL is of the
	// candidate.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	TargetURL string `json:"targetURL,omitempty"`

	// descriptors is the digest of the control's descriptors, as status.descriptors is for the
	// target.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	Descriptors string `json:"descriptors,omitempty"`
}
