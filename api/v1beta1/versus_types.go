package v1beta1

import "slices"

// Versus names a second target that gets the same load in the same run: the control, with
// which the target of the spec, the candidate, is compared. Each step that sends load is
// planned twice in each repetition, once for either, one right after the other in an order
// that is drawn: so both share the time and its noise.
type Versus struct {
	// target is the name of one of spec.otherTargets, which is the control. It gets the setup,
	// too, and has timeout, trace, http2 and grpc of spec.target. Example: v3.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=24
	Target string `json:"target"`

	// preflight is what the workers ask of the control, instead of spec.preflight: which
	// version it is, for example. Absent or empty: spec.preflight is asked of both.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Preflight []Preflight `json:"preflight,omitempty"`
}

// Control is the target that versus names, with what it has of spec.target; nil: versus is not set,
// or names none of otherTargets.
func (s *LoadTestSpec) Control() *Target {
	for i := range s.OtherTargets {
		other := &s.OtherTargets[i]
		if !s.IsControl(other.Name) {
			continue
		}
		t := other.Target()
		t.Timeout, t.Trace, t.GRPC = s.Target.Timeout, s.Target.Trace, s.Target.GRPC
		if t.Protocol == ProtocolHTTP2 && t.Proxy == nil && !t.DisableKeepAlive {
			t.HTTP2 = s.Target.HTTP2
		}
		return t
	}
	return nil
}

// RequestTargets are the otherTargets that requests and logins may name: all but the control.
func (s *LoadTestSpec) RequestTargets() []OtherTarget {
	return slices.DeleteFunc(slices.Clone(s.OtherTargets), func(o OtherTarget) bool { return s.IsControl(o.Name) })
}

// IsControl says whether versus names the other target of a name; none of the empty name.
func (s *LoadTestSpec) IsControl(name string) bool {
	return s.Versus != nil && name != "" && s.Versus.Target == name
}

// Side is which of the two targets of a comparison a step is sent to.
//
// +kubebuilder:validation:Enum=Candidate;Control
type Side string

const (
	// SideCandidate is spec.target, which the thresholds are about.
	SideCandidate Side = "Candidate"
	// SideControl is the target that spec.versus names, with which the candidate is compared.
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
	// control is the name of the other target that spec.versus names.
	// +required
	// +kubebuilder:validation:MaxLength=24
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
