package v1beta1

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StepLoad is what a step sends, in total over all workers. It has exactly one of
// users, rate, speed and pause, spelled as in spec.steps.
type StepLoad struct {
	// users is the number of concurrent users, with rampTo that at the beginning.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Users int32 `json:"users,omitempty"`
	// ratePerUser is the number of requests per second that each user sends. Absent: each user
	// sends its next request when the response to its last has come.
	// +optional
	RatePerUser *Decimal `json:"ratePerUser,omitempty"`
	// think is how long each user waits after a response before its next request.
	// Absent: it does not wait.
	// +optional
	Think *Think `json:"think,omitempty"`
	// requestsPerUser is the number of requests that each user of a burst sends.
	// +optional
	// +kubebuilder:validation:Minimum=1
	RequestsPerUser int32 `json:"requestsPerUser,omitempty"`
	// rate is the number of requests per second that arrive or, if sessions is set, of sessions.
	// +optional
	Rate *Decimal `json:"rate,omitempty"`
	// rampTo is the rate, or the number of users, at the end of duration, to which it
	// grows or falls linearly. Absent: it is constant.
	// +optional
	RampTo *Decimal `json:"rampTo,omitempty"`
	// speed is how many times as fast as it was recorded a log is replayed. Absent: no log is.
	// +optional
	Speed *Decimal `json:"speed,omitempty"`
	// arrivals is how the requests of a rate are spread in time.
	// +optional
	Arrivals Arrivals `json:"arrivals,omitempty"`
	// warmUp is how long load is sent that does not count, before duration begins.
	// +optional
	WarmUp *metav1.Duration `json:"warmUp,omitempty"`
	// duration is how long load is sent that counts. Absent for a burst, which ends
	// with its last response, and for a pause.
	// +optional
	Duration *metav1.Duration `json:"duration,omitempty"`
	// maxDuration is the longest that a burst may take. Requests without a response
	// are cut then.
	// +optional
	MaxDuration *metav1.Duration `json:"maxDuration,omitempty"`
	// pause is how long nothing is sent.
	// +optional
	Pause *metav1.Duration `json:"pause,omitempty"`
	// requests is the number of requests that are due in duration, or in the burst. Absent
	// where the number is not known beforehand: for users who send until the duration
	// is over and have no rate, for Poisson arrivals, and for a log.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Requests int64 `json:"requests,omitempty"`
	// sessions is how many sessions are due in duration: each is a user who carries out one journey or
	// one single request of the mix. It is 0 for Poisson arrivals, of which the number is not known
	// beforehand. Absent: rate, if there is one, is of requests.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Sessions *int64 `json:"sessions,omitempty"`
}

// IsPause says whether nothing is sent.
func (l *StepLoad) IsPause() bool { return l.Pause != nil }

// IsBurst says whether the step ends when every user has sent its requests.
func (l *StepLoad) IsBurst() bool { return l.RequestsPerUser > 0 }

// IsReplay says whether the requests of a log are sent.
func (l *StepLoad) IsReplay() bool { return l.Speed != nil }

// Arrives says whether requests are due at instants that follow from no user: at a rate, or by a log.
func (l *StepLoad) Arrives() bool { return l.Rate != nil || l.IsReplay() }

// IsScheduled says whether requests are due at instants that the generator can miss:
// those of arrivals, of users with a rate, and of users who think, when their think time
// is over. The first requests of a burst are due all at once, which no generator keeps.
func (l *StepLoad) IsScheduled() bool {
	return l.Arrives() || l.RatePerUser != nil || l.Think != nil && !l.IsBurst()
}

// LastUsers is the number of users at the end of duration.
func (l *StepLoad) LastUsers() int32 {
	if l.Users == 0 || l.RampTo == nil {
		return l.Users
	}
	n, err := strconv.ParseInt(l.RampTo.String(), 10, 32)
	if err != nil {
		return l.Users // not planned by any operator
	}
	return int32(n)
}

// MostUsers is the largest number of concurrent users.
func (l *StepLoad) MostUsers() int32 { return max(l.Users, l.LastUsers()) }
