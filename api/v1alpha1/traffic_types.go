package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Request is one kind of request of the traffic mix.
//
// path, body and the values of headers are templates. In them stand:
// ${user} (the user's number, from 0, over all workers), ${seq} (the number of
// the request within the step, over all workers), ${worker} (the worker's
// number, from 0), ${uuid} (a random UUID) and ${rand:a-b} (a random integer
// from a to b). $$ is a dollar sign. Templates are substituted, never run as
// code.
type Request struct {
	// name identifies the request in reports and thresholds. Absent: its method
	// and path.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// kind is the type of request under which reports add it up: Read, Write or
	// a label of your own. Absent: Read for GET, HEAD and OPTIONS, else Write.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind,omitempty"`

	// weight is the request's share of the mix, relative to the other weights.
	// Default 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Weight int32 `json:"weight,omitempty"`

	// method is the HTTP method. Default GET.
	// +optional
	// +kubebuilder:default=GET
	Method Method `json:"method,omitempty"`

	// path is the path and query, beginning with a slash. Default "/".
	// +optional
	// +kubebuilder:default="/"
	// +kubebuilder:validation:MaxLength=4096
	// +kubebuilder:validation:Pattern=`^/[^\r\n\x00 ]*$`
	Path string `json:"path,omitempty"`

	// headers are sent with this request.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Headers []Header `json:"headers,omitempty"`

	// body is sent with this request. Absent: no body.
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	Body string `json:"body,omitempty"`

	// expect says which responses are as they should be. Absent: every status
	// from 200 to 399.
	// +optional
	Expect *Expectation `json:"expect,omitempty"`
}

// Method is an HTTP method.
//
// +kubebuilder:validation:Enum=GET;HEAD;POST;PUT;PATCH;DELETE;OPTIONS
type Method string

// Expectation says which responses are as they should be. A response that is
// not counts as failed.
type Expectation struct {
	// status lists the status codes that are expected. A 429 that is listed is
	// not a failure, but is still counted as rateLimited.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:Minimum=200
	// +kubebuilder:validation:items:Maximum=599
	Status []int32 `json:"status"`
}

// Ladder is one step for each number of users.
type Ladder struct {
	// users is the number of concurrent users of each rung, in total over all
	// workers. Each user holds one connection.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=1000000
	Users []int32 `json:"users"`

	// ratePerUser is how many requests per second each user sends, evenly
	// spaced; the total rate of a rung is users x ratePerUser. Absent: each user
	// sends its next request as soon as the reply to the last has come.
	// +optional
	RatePerUser *Decimal `json:"ratePerUser,omitempty"`

	// duration is how long each rung sends load.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|ms|s|m|h))+$') && duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="duration must be a time from 1s to 24h, such as 30s"
	Duration metav1.Duration `json:"duration"`

	// rest is the pause between two rungs. Default: none.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|ms|s|m|h))+$') && duration(self) >= duration('0s') && duration(self) <= duration('24h')",message="rest must be a time from 0s to 24h, such as 10s"
	Rest *metav1.Duration `json:"rest,omitempty"`

	// stopOnBreach skips the remaining rungs when a threshold is breached,
	// whatever the threshold's own onBreach says. Default false.
	// +optional
	StopOnBreach bool `json:"stopOnBreach,omitempty"`
}

// Step is one step of a run. It has exactly one of users, rate and pause.
//
// +kubebuilder:validation:XValidation:rule="(has(self.users) ? 1 : 0) + (has(self.rate) ? 1 : 0) + (has(self.pause) ? 1 : 0) == 1",message="exactly one of users, rate and pause must be set"
// +kubebuilder:validation:XValidation:rule="!has(self.users) || has(self.duration) != has(self.requestsPerUser)",message="exactly one of duration and requestsPerUser must be set with users"
// +kubebuilder:validation:XValidation:rule="!has(self.rate) || has(self.duration)",message="duration must be set with rate"
// +kubebuilder:validation:XValidation:rule="has(self.users) || !has(self.requestsPerUser)",message="requestsPerUser must not be set without users"
// +kubebuilder:validation:XValidation:rule="!has(self.ratePerUser) || (has(self.users) && has(self.duration))",message="ratePerUser must not be set without users and duration"
// +kubebuilder:validation:XValidation:rule="!has(self.pause) || !has(self.duration)",message="duration must not be set with pause, which is a duration itself"
type Step struct {
	// name identifies the step in reports. Absent: what it does, for example
	// "1000 users".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// users is the number of concurrent users, in total over all workers, each
	// with a connection of its own. It goes with duration or requestsPerUser.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Users *int32 `json:"users,omitempty"`

	// ratePerUser is how many requests per second each user sends. Absent: the
	// next as soon as the reply to the last has come.
	// +optional
	RatePerUser *Decimal `json:"ratePerUser,omitempty"`

	// requestsPerUser is how many requests each user sends, one after another;
	// the step ends when all have been answered.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	RequestsPerUser *int32 `json:"requestsPerUser,omitempty"`

	// rate is how many requests per second arrive, in total over all workers,
	// evenly spaced, whether or not earlier ones have been answered.
	// +optional
	Rate *Decimal `json:"rate,omitempty"`

	// duration is how long the step sends load.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|ms|s|m|h))+$') && duration(self) >= duration('100ms') && duration(self) <= duration('24h')",message="duration must be a time from 100ms to 24h, such as 30s"
	Duration *metav1.Duration `json:"duration,omitempty"`

	// pause is how long nothing is sent.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|ms|s|m|h))+$') && duration(self) >= duration('1ms') && duration(self) <= duration('24h')",message="pause must be a time from 1ms to 24h, such as 10s"
	Pause *metav1.Duration `json:"pause,omitempty"`
}

// RateLimit is the contract of a token-bucket rate limiter: in any t seconds a
// client is granted at most capacity + refillPerSecond x t requests.
type RateLimit struct {
	// capacity is the number of tokens in a full bucket.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000
	Capacity int64 `json:"capacity"`

	// refillPerSecond is the number of tokens that come back each second.
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
