package v1beta1

// OutstandingResult is how many requests of a step were outstanding, due and not ended,
// and whether they became more and more: then the load was more than the target could
// take, however well it kept the thresholds for the time of the step.
type OutstandingResult struct {
	// mean is the number of requests that were outstanding at a time, on average over the window
	// without its first tenth: "41.3". Of users without a rate, those that were sent.
	// +required
	// +kubebuilder:validation:MaxLength=32
	Mean string `json:"mean"`
	// trend says whether they became more and more in the course of the window.
	// +required
	Trend OutstandingTrend `json:"trend"`
	// growth is how many more they were with each second: "4.1", "0.046". Absent
	// unless trend is Growing or Uncertain.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Growth string `json:"growth,omitempty"`
	// withoutGenerator is the growth without the requests that the generator, not the
	// target, kept unsent. Absent where it equals growth.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	WithoutGenerator string `json:"withoutGenerator,omitempty"`
	// message says in a sentence why trend is Unknown. Absent if it is not.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Message string `json:"message,omitempty"`
}

// OutstandingTrend says whether the outstanding requests of a step became more and more.
//
// +kubebuilder:validation:Enum=Steady;Growing;Uncertain;Unknown
type OutstandingTrend string

const (
	// OutstandingSteady did not grow, as far as the time of the step can tell.
	OutstandingSteady OutstandingTrend = "Steady"
	// OutstandingGrowing grew, by 2 requests or more and beyond what chance does (the test
	// of Mann and Kendall, z > 3), without those that the generator kept unsent, too. Such a load does not count as one that was kept.
	OutstandingGrowing OutstandingTrend = "Growing"
	// OutstandingUncertain grew as measured and not without the requests that the generator
	// kept unsent, or the other way round: it may be the generator's growth. Such a load
	// counts neither as kept nor as breached.
	OutstandingUncertain OutstandingTrend = "Uncertain"
	// OutstandingUnknown cannot be told: the message says why.
	OutstandingUnknown OutstandingTrend = "Unknown"
)

// Grows says that the outstanding requests became more and more.
func (o *OutstandingResult) Grows() bool { return o != nil && o.Trend == OutstandingGrowing }

// IsUncertain says that it may be the generator alone that made them more and more.
func (o *OutstandingResult) IsUncertain() bool { return o != nil && o.Trend == OutstandingUncertain }
