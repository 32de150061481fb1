package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Search looks for the highest load that keeps every threshold. It begins with the
// least load, multiplies it until a threshold is breached, and then divides the
// interval between the highest load that kept them and the lowest that breached one.
// Each load is a step of its own, a probe. The probes that decide are sent twice. At the
// end, the load that was found is held for longer: what a hold breaches is taken back by
// the precision and held again, up to 5 times.
//
// A load is kept if every threshold is, and if the requests that are outstanding do not
// become more and more, see the outstanding of a step's result.
//
// +kubebuilder:validation:XValidation:rule="has(self.users) != has(self.rate)",message="exactly one of users and rate must be set"
// +kubebuilder:validation:XValidation:rule="!has(self.ratePerUser) || has(self.users)",message="ratePerUser must not be set without users"
// +kubebuilder:validation:XValidation:rule="!has(self.think) || has(self.users) && !has(self.ratePerUser)",message="think must not be set without users, or with ratePerUser"
// +kubebuilder:validation:XValidation:rule="!has(self.hold) || duration(self.hold) == duration('0s') || duration(self.hold) >= duration(self.duration)",message="hold must be 0s, or at least duration"
type Search struct {
	// users is the range of concurrent users, in total over all workers, each with a
	// connection of its own. Exactly one of users and rate is set. Example: {min: 10,
	// max: 10000}.
	// +optional
	Users *UsersRange `json:"users,omitempty"`

	// rate is the range of requests per second, in total over all workers, evenly
	// spaced, whether or not earlier ones have been answered. Example: {min: 100, max:
	// 100000}.
	// +optional
	Rate *RateRange `json:"rate,omitempty"`

	// ratePerUser is the number of requests per second that each user sends, evenly spaced.
	// Absent: each user sends its next request as soon as the response has come, a
	// closed loop. A decimal is quoted: 1, "0.5".
	// +optional
	RatePerUser *Decimal `json:"ratePerUser,omitempty"`

	// think is how long each user waits after a response before its next request, as in a
	// ladder. Example: {min: 1s, max: 3s}.
	// +optional
	Think *Think `json:"think,omitempty"`

	// duration is how long each probe sends load that counts. The longer it is, the
	// less do two probes of one load differ. Example: 20s.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|µs|ms|s|m|h))+$') && [duration('1s'), duration(self), duration('1h')].isSorted()",message="duration must be a time from 1s to 1h, such as 20s"
	Duration metav1.Duration `json:"duration"`

	// warmUp is how long each probe sends its load before its duration begins. It is
	// part of no result. Default: none.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|µs|ms|s|m|h))+$') && duration(self) <= duration('1h')",message="warmUp must be a time from 0s to 1h, such as 5s"
	WarmUp *metav1.Duration `json:"warmUp,omitempty"`

	// rest is the pause between two probes, in which the target recovers from a load
	// that was too much for it. Default: 5s. 0s: none.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|µs|ms|s|m|h))+$') && duration(self) <= duration('1h')",message="rest must be a time from 0s to 1h, such as 10s"
	Rest *metav1.Duration `json:"rest,omitempty"`

	// hold is how long the load that the probes found is sent at the end, to see that it is
	// kept for longer than the time of a probe, in which a queue hardly begins to grow.
	// 0s: it is not held. Otherwise it is at least duration. Default: ten times duration,
	// and at least 60s.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|µs|ms|s|m|h))+$') && duration(self) <= duration('24h')",message="hold must be a time from 0s to 24h, such as 2m"
	Hold *metav1.Duration `json:"hold,omitempty"`

	// precision is how much higher the lowest load that breached a threshold may be
	// than the highest that kept them all, in percent from 1% to 50%. Of users, the
	// interval never becomes smaller than one. Default: 5%.
	// +optional
	// +kubebuilder:validation:MaxLength=8
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]{1,2}([.][0-9]{1,2})?%$') && double(self.replace('%', '')) >= 1.0 && double(self.replace('%', '')) <= 50.0",message="precision must be a percentage from 1% to 50%, such as 5%"
	Precision string `json:"precision,omitempty"`
}

// UsersRange is the range of users that is searched.
//
// +kubebuilder:validation:XValidation:rule="self.min < self.max",message="min must be less than max"
type UsersRange struct {
	// min is the least number of users. A target that does not keep the thresholds
	// with it has failed. If it keeps them, and only outstanding requests become more and
	// more, the run is Inconclusive.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Min int32 `json:"min"`
	// max is the greatest number of users. The number of workers follows from it.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Max int32 `json:"max"`
}

// RateRange is the range of rates that is searched.
//
// +kubebuilder:validation:XValidation:rule="double(self.min) < double(self.max)",message="min must be less than max"
type RateRange struct {
	// min is the least rate, in requests per second. A target that does not keep the
	// thresholds at it has failed. If it keeps them, and only outstanding requests become
	// more and more, the run is Inconclusive.
	// +required
	Min Decimal `json:"min"`
	// max is the greatest rate, in requests per second. The number of workers follows
	// from it.
	// +required
	Max Decimal `json:"max"`
}

// SearchStatus is the progress of spec.search, and what it has found.
type SearchStatus struct {
	// rest is the pause between two probes. Absent: none.
	// +optional
	Rest *metav1.Duration `json:"rest,omitempty"`
	// hold is how long the load that was found is held, its default applied. Absent: it is
	// not held.
	// +optional
	Hold *metav1.Duration `json:"hold,omitempty"`
	// precision is the precision of spec.search, its default applied.
	// +required
	// +kubebuilder:validation:MaxLength=8
	Precision string `json:"precision"`
	// maxProbes is the largest number of probes.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	MaxProbes int32 `json:"maxProbes"`
	// state is the state of the search.
	// +required
	State SearchState `json:"state"`
	// low is the highest load that is known to be kept, below all that were not: a number of
	// users, or a rate, such as "1900". If state is Found or BeyondMax, it was kept for the
	// time of hold (without one, in two probes); otherwise in one probe. Absent when there is
	// none so far.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Low string `json:"low,omitempty"`
	// high is a load that breached a threshold, or with which outstanding requests became
	// more and more, as did all higher ones. At the end it did so twice, or when it was held; min, twice when it was held.
	// The limit is between low and high. Absent when there is none so far.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	High string `json:"high,omitempty"`
	// breach is the latest breach of high, or of a load above it, in a sentence: what limits the target.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Breach string `json:"breach,omitempty"`
	// message is the result in a sentence. Absent while the search goes on.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}

// SearchState is where a search stands.
//
// +kubebuilder:validation:Enum=Searching;Found;BeyondMax;BelowMin;GivenUp
type SearchState string

const (
	// SearchSearching has probes ahead.
	SearchSearching SearchState = "Searching"
	// SearchFound has found the interval in which the limit is.
	SearchFound SearchState = "Found"
	// SearchBeyondMax has found that the target keeps the thresholds at max.
	SearchBeyondMax SearchState = "BeyondMax"
	// SearchBelowMin has found twice that the target does not keep min: it breaches a
	// threshold, or outstanding requests become more and more.
	SearchBelowMin SearchState = "BelowMin"
	// SearchGivenUp has found no interval of that precision; the message says why.
	SearchGivenUp SearchState = "GivenUp"
)
