package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Audit compares what was measured with a contract of the target.
//
// +kubebuilder:validation:XValidation:rule="has(self.rateLimit) != has(self.stored)",message="exactly one member must be set beside name: rateLimit or stored"
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

	// stored compares a number that the target reports of itself, before the first and
	// after the last step, with the requests that it acknowledged in between. Example:
	// {read: {http: {path: /stats}}, value: .links, requests: [create]}.
	// +optional
	Stored *Stored `json:"stored,omitempty"`
}

// Stored is a number that requests raise, each by its items. With no other client at
// work on the target, the number must have grown by
//
//	acknowledged <= change <= acknowledged + unknown
//
// acknowledged are the items of requests with an expected response, except of status 400
// to 599: to expect a 409 makes it no failure, and still it says that nothing was stored.
// unknown are the items of requests that may or may not have been stored: outcomes
// timeout, reset, tls, serverError, unexpectedStatus, badResponse, unfinished and
// other, an expected status of 500 to 599, CANCELLED of gRPC, and what may be missing from
// the result because a worker was lost. What was answered with 400 to 499, or never sent
// (refused, dns), is not stored, but unknown if a redirect was followed before.
//
// A smaller change is data that was acknowledged and lost, a larger one data that was
// stored twice or although the target refused it: both make the verdict Failed. A
// number that cannot be read makes it Inconclusive. An item that was lost and another
// that was stored twice cancel each other out, and are not found.
type Stored struct {
	// read is what reads the number. One worker sends it, with the target's headers.
	// Example: {http: {path: /stats}}.
	// +required
	Read Reading `json:"read"`

	// value is the place of the number, a whole one, in the JSON body of the response, or
	// in the reply as JSON, with fields in lowerCamelCase and fields of the default value.
	// Example: .links.
	// +required
	Value JSONPath `json:"value"`

	// requests are the names of the requests of spec.requests that raise the number.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=63
	Requests []string `json:"requests"`

	// stableFor is how long the number must stay the same before it counts. It is read
	// every 500 ms. A target that stores later than it answers needs as long as it may
	// take for the next item. Default 3s.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|µs|ms|s|m|h))+$') && duration(self) <= duration('10m')",message="stableFor must be a time from 0s to 10m, such as 3s"
	StableFor *metav1.Duration `json:"stableFor,omitempty"`

	// maxWait is how long is waited for the number, each time, and after the last step
	// also for what was acknowledged and is not in it yet. Default 2m.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|µs|ms|s|m|h))+$') && [duration('1s'), duration(self), duration('1h')].isSorted()",message="maxWait must be a time from 1s to 1h, such as 2m"
	MaxWait *metav1.Duration `json:"maxWait,omitempty"`
}

// Reading is a request that reads a number: of HTTP or of gRPC.
//
// +kubebuilder:validation:XValidation:rule="has(self.http) != has(self.grpc)",message="exactly one of http and grpc must be set, such as http: {path: /stats}"
type Reading struct {
	// http is a request of HTTP. The response must have a status from 200 to 299.
	// +optional
	HTTP *Query `json:"http,omitempty"`

	// grpc is a call of gRPC. It needs what calls of spec.requests need; the reply must have
	// the status OK. Example: {method: shop.v1.Shop/Count}.
	// +optional
	GRPC *Call `json:"grpc,omitempty"`
}

// OwnHeaders returns the headers or the metadata of a reading, without the headers of its target.
func (r *Reading) OwnHeaders() []Header {
	if r.HTTP != nil {
		return r.HTTP.Headers
	}
	return r.GRPC.metadata()
}

// RateLimit is the contract of a token-bucket rate limiter: in any t seconds a
// client is granted at most capacity + refillPerSecond x t requests. Requests to
// spec.otherTargets do not count.
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

// StoredAudits are the audits that have stored, in order.
func (s *LoadTestSpec) StoredAudits() []Audit {
	var list []Audit
	for i := range s.Audits {
		if s.Audits[i].Stored != nil {
			list = append(list, s.Audits[i])
		}
	}
	return list
}

// AuditState is the result of an audit.
//
// +kubebuilder:validation:Enum=Pending;Passed;Failed;Inconclusive
type AuditState string

const (
	// AuditPending is not judged yet.
	AuditPending AuditState = "Pending"
	// AuditPassed means that the number changed as it had to.
	AuditPassed AuditState = "Passed"
	// AuditFailed means that data was lost, or that more was stored than was sent.
	AuditFailed AuditState = "Failed"
	// AuditInconclusive means that the number could not be read or compared.
	AuditInconclusive AuditState = "Inconclusive"
)

// AuditStatus is what is known of an audit of spec.audits that has stored.
type AuditStatus struct {
	// name identifies the audit.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// state is the result.
	// +required
	State AuditState `json:"state"`
	// stableFor is the stableFor of the spec, or the default when the run was accepted.
	// +required
	StableFor metav1.Duration `json:"stableFor"`
	// maxWait is the maxWait of the spec, or the default when the run was accepted.
	// +required
	MaxWait metav1.Duration `json:"maxWait"`
	// before is the number before the first step. Absent: it was not read.
	// +optional
	Before *int64 `json:"before,omitempty"`
	// after is the number after the last step. Absent: it was not read.
	// +optional
	After *int64 `json:"after,omitempty"`
	// change is after less before.
	// +optional
	Change *int64 `json:"change,omitempty"`
	// acknowledged is the number of items that the target acknowledged in the steps so far.
	// +optional
	Acknowledged int64 `json:"acknowledged"`
	// unknown is how many more it may have stored. Absent: no bound is known.
	// +optional
	Unknown *int64 `json:"unknown,omitempty"`
	// message is the result in a sentence.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}

// AuditPoint is when the numbers of audits are read.
//
// +kubebuilder:validation:Enum=Before;After
type AuditPoint string

const (
	// AuditBefore is before the first step, when all workers are ready.
	AuditBefore AuditPoint = "Before"
	// AuditAfter is after the last step that ran.
	AuditAfter AuditPoint = "After"
)

// Auditing is a time in which no step runs, and a worker reads the numbers of
// spec.audits.
type Auditing struct {
	// point is before the first or after the last step.
	// +required
	Point AuditPoint `json:"point"`
	// since is when the operator decided to have the numbers read.
	// +required
	Since metav1.MicroTime `json:"since"`
	// reason is the reason of condition CarriedOut once they are. Absent before the first step.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`
}
