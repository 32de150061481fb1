package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Ladder is one step for each number of users, or for each rate.
//
// +kubebuilder:validation:XValidation:rule="has(self.users) != has(self.rates)",message="exactly one of users and rates must be set"
// +kubebuilder:validation:XValidation:rule="!has(self.ratePerUser) || has(self.users)",message="ratePerUser must not be set without users"
// +kubebuilder:validation:XValidation:rule="!has(self.think) || has(self.users) && !has(self.ratePerUser)",message="think must not be set without users, or with ratePerUser"
type Ladder struct {
	// users is the number of concurrent users of each rung, in total over all workers.
	// Each user holds one connection. Exactly one of users and rates is set. Example:
	// [10, 100, 1000].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=1000000
	Users []int32 `json:"users,omitempty"`

	// rates is the number of requests per second that arrive at each rung, or with spec.journeys of
	// sessions, in total over all workers, evenly spaced, whether or not earlier ones have been
	// answered. Example: [100, 1000].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Rates []Decimal `json:"rates,omitempty"`

	// ratePerUser is the number of requests per second that each user sends, evenly spaced.
	// Absent: each user sends its next request as soon as the response has come, a
	// closed loop. A decimal is quoted: 1, "0.5".
	// +optional
	RatePerUser *Decimal `json:"ratePerUser,omitempty"`

	// think is how long each user waits after a response before its next request, fixed
	// or drawn from a range. The first requests are spread evenly over its mean, so that
	// users do not act in step. Absent: users do not wait. It does not go with
	// ratePerUser. Example: {min: 1s, max: 3s}.
	// +optional
	Think *Think `json:"think,omitempty"`

	// duration is how long each rung sends load that counts. Example: 30s.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|µs|ms|s|m|h))+$') && duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="duration must be a time from 1s to 24h, such as 30s"
	Duration metav1.Duration `json:"duration"`

	// warmUp is how long each rung sends its load before its duration begins. It is
	// part of no result. Default: none.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|µs|ms|s|m|h))+$') && duration(self) <= duration('1h')",message="warmUp must be a time from 0s to 1h, such as 5s"
	WarmUp *metav1.Duration `json:"warmUp,omitempty"`

	// rest is the pause between two rungs. Default: none.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|µs|ms|s|m|h))+$') && duration(self) <= duration('24h')",message="rest must be a time from 0s to 24h, such as 10s"
	Rest *metav1.Duration `json:"rest,omitempty"`

	// stopOnBreach skips all that follows when a threshold is breached: the remaining
	// rungs and every later repetition. It holds for all thresholds, whatever their
	// onBreach. Default false.
	// +optional
	StopOnBreach bool `json:"stopOnBreach,omitempty"`
}

// Step is one step of a run. It has exactly one of users, rate and pause.
//
// +kubebuilder:validation:XValidation:rule="(has(self.users) ? 1 : 0) + (has(self.rate) ? 1 : 0) + (has(self.pause) ? 1 : 0) == 1",message="exactly one of users, rate and pause must be set; a step without load has pause: 10s in place of a duration"
// +kubebuilder:validation:XValidation:rule="!has(self.users) || has(self.duration) != has(self.requestsPerUser)",message="exactly one of duration and requestsPerUser must be set with users"
// +kubebuilder:validation:XValidation:rule="!has(self.rate) || has(self.duration)",message="duration must be set with rate"
// +kubebuilder:validation:XValidation:rule="has(self.users) || !has(self.requestsPerUser)",message="requestsPerUser must not be set without users"
// +kubebuilder:validation:XValidation:rule="!has(self.ratePerUser) || (has(self.users) && has(self.duration))",message="ratePerUser must not be set without users and duration"
// +kubebuilder:validation:XValidation:rule="!has(self.think) || has(self.users) && !has(self.ratePerUser)",message="think must not be set without users, or with ratePerUser"
// +kubebuilder:validation:XValidation:rule="!has(self.warmUp) || has(self.duration)",message="warmUp must not be set without duration"
// +kubebuilder:validation:XValidation:rule="!has(self.rampTo) || has(self.rate) || has(self.users) && has(self.duration)",message="rampTo must not be set without rate, or users and duration"
// +kubebuilder:validation:XValidation:rule="!has(self.rampTo) || !has(self.users) || string(self.rampTo).matches('^[0-9]{1,7}$') && int(string(self.rampTo)) <= 1000000",message="rampTo must be a whole number of at most 1000000 with users"
// +kubebuilder:validation:XValidation:rule="!has(self.arrivals) || has(self.rate)",message="arrivals must not be set without rate"
// +kubebuilder:validation:XValidation:rule="!has(self.pause) || !has(self.duration)",message="duration must not be set with pause, which is a duration itself"
type Step struct {
	// name identifies the step in reports and thresholds. Example: peak.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// users is the number of concurrent users, in total over all workers, each with a
	// connection of its own. It goes with duration or requestsPerUser. The connections
	// are opened before the step: on a ramp, for its largest number of users.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Users *int32 `json:"users,omitempty"`

	// ratePerUser is the number of requests per second that each user sends, evenly spaced.
	// Absent: each user sends its next request as soon as the response has come, a
	// closed loop. A decimal is quoted: 1, "0.5".
	// +optional
	RatePerUser *Decimal `json:"ratePerUser,omitempty"`

	// think is how long each user waits after a response before its next request, fixed
	// or drawn from a range. The first requests are spread evenly over its mean, except
	// with requestsPerUser. Absent: users do not wait. It does not go with ratePerUser.
	// Example: {min: 1s, max: 3s}.
	// +optional
	Think *Think `json:"think,omitempty"`

	// requestsPerUser is the number of requests that each user sends, one after another; the
	// step ends when all have been answered. Example: 200 users with 1 request each
	// are a burst.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	RequestsPerUser *int32 `json:"requestsPerUser,omitempty"`

	// rate is the number of requests per second that arrive, in total over all workers, whether
	// or not earlier ones have been answered. With spec.journeys it is that of sessions: users who
	// come, carry out one journey or one request of the mix, and leave. A decimal is quoted: 100, "0.5".
	// +optional
	Rate *Decimal `json:"rate,omitempty"`

	// rampTo is the rate at the step's end, or with users and duration the number of
	// users. It changes linearly, so that (rate + rampTo) / 2 x duration requests are due,
	// or (users + rampTo) / 2 users take part on average. Absent: it is constant.
	// +optional
	RampTo *Decimal `json:"rampTo,omitempty"`

	// arrivals is how the requests of a rate, or its sessions, are spread in time. Absent: Even.
	// +optional
	Arrivals Arrivals `json:"arrivals,omitempty"`

	// warmUp is how long the step sends its load, at the rate or with the users with
	// which it begins, before its duration begins. It is part of no result, and goes with duration.
	// Default: none.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|µs|ms|s|m|h))+$') && duration(self) <= duration('1h')",message="warmUp must be a time from 0s to 1h, such as 5s"
	WarmUp *metav1.Duration `json:"warmUp,omitempty"`

	// duration is how long the step sends load that counts. Example: 30s.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|µs|ms|s|m|h))+$') && duration(self) >= duration('100ms') && duration(self) <= duration('24h')",message="duration must be a time from 100ms to 24h, such as 30s"
	Duration *metav1.Duration `json:"duration,omitempty"`

	// pause is how long the step sends nothing. Example: 10s.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|µs|ms|s|m|h))+$') && duration(self) >= duration('1ms') && duration(self) <= duration('24h')",message="pause must be a time from 1ms to 24h, such as 10s"
	Pause *metav1.Duration `json:"pause,omitempty"`
}

// Arrivals is how requests are spread in time.
//
// +kubebuilder:validation:Enum=Even;Poisson
type Arrivals string

const (
	// ArrivalsEven leaves the same time between one request and the next.
	ArrivalsEven Arrivals = "Even"
	// ArrivalsPoisson draws the time between one request and the next from an
	// exponential distribution, as requests of many users who are independent of
	// each other come; rates are means.
	ArrivalsPoisson Arrivals = "Poisson"
)
