package v1alpha1

// Audit compares what was measured with a contract of the target.
//
// +kubebuilder:validation:XValidation:rule="has(self.rateLimit)",message="exactly one member must be set beside name: rateLimit"
type Audit struct {
	// name identifies the audit in the result.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// rateLimit is the contract of a rate limiter under test. The metrics
	// overLimitGrants and falseDenials count how often the target breaks it. Example:
	// {capacity: 50, refillPerSecond: 10, clientHeader: X-Client}.
	// +optional
	RateLimit *RateLimit `json:"rateLimit,omitempty"`
}

// RateLimit is the contract of a token-bucket rate limiter: in any t seconds a
// client is granted at most capacity + refillPerSecond x t requests.
type RateLimit struct {
	// capacity is the number of tokens in a full bucket.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000
	Capacity int64 `json:"capacity"`

	// refillPerSecond is the number of tokens that come back each second. A decimal is
	// quoted: 10, "0.5".
	// +required
	RefillPerSecond Decimal `json:"refillPerSecond"`

	// clientHeader is the request header that names the client; each value has a
	// bucket of its own. A request without it counts as the client "".
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern="^[-!#$%&'*+.^_`|~0-9A-Za-z]+$"
	ClientHeader string `json:"clientHeader"`
}

// RateLimit is the contract of the rate limiter under test, nil when spec.audits
// has none.
func (s *LoadTestSpec) RateLimit() *RateLimit {
	for i := range s.Audits {
		if contract := s.Audits[i].RateLimit; contract != nil {
			return contract
		}
	}
	return nil
}
