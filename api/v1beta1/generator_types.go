package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GeneratorStatus is the state of the generator in a step.
type GeneratorStatus struct {
	// healthy is false when the generator sent or read so late that it shows in the
	// measured times. That alone decides no verdict: thresholds are judged with and without
	// the generator's own delay.
	Healthy bool `json:"healthy"`
	// loadDisplaced says that the target did not get the planned load by the generator's
	// fault: over 1% was unsent, displaced or heldUp, or burstSpread over 10 ms and a tenth
	// of the median service time. Then of thresholds only overLimitGrants and falseDenials
	// are Passed or Failed.
	// +optional
	LoadDisplaced bool `json:"loadDisplaced,omitempty"`
	// heldUp is the share of the time of users without a rate for which the generator, not
	// the target or a think time, kept them from sending: "0.2%". Absent: for less than
	// 0.01%, and for other loads.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	HeldUp string `json:"heldUp,omitempty"`
	// burstSpread is within which time the first requests of all users of a burst were
	// sent, from the instant at which it was to begin. Absent for other loads.
	// +optional
	BurstSpread *metav1.Duration `json:"burstSpread,omitempty"`
	// engine is how the workers drove the requests: by "event loops", by "goroutines",
	// one for each request in flight, which cost more memory and CPU, or by "vegeta".
	// Absent: the workers did not report it.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Engine string `json:"engine,omitempty"`
	// sendLatenessP50 is the median of how late the generator itself sent requests
	// that it was free to send. Absent with fewer than 2 samples.
	// +optional
	SendLatenessP50 *metav1.Duration `json:"sendLatenessP50,omitempty"`
	// sendLatenessP99 is the 99th percentile. Absent with fewer than 100 samples.
	// +optional
	SendLatenessP99 *metav1.Duration `json:"sendLatenessP99,omitempty"`
	// sendLatenessMax is the largest. Absent without a sample.
	// +optional
	SendLatenessMax *metav1.Duration `json:"sendLatenessMax,omitempty"`
	// readLatenessP99 is the 99th percentile of how long responses were in the worker's
	// machine before it read them, which is part of their times. Absent with fewer than
	// 100 samples: only some connections tell, where the kernel does.
	// +optional
	ReadLatenessP99 *metav1.Duration `json:"readLatenessP99,omitempty"`
	// cpuTime is the processor time that the workers used, added up. Absent: it is
	// not known.
	// +optional
	CPUTime *metav1.Duration `json:"cpuTime,omitempty"`
	// cpuThrottled is the share of time for which CPU limits stopped the workers, in
	// percent of the window x the number of workers. "0%": never. Absent without a
	// window. The worker that was stopped longest is judged; message names it.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	CPUThrottled string `json:"cpuThrottled,omitempty"`
	// runQueueWait is how long the workers' threads could have run and waited for a
	// processor, in percent of the window x the number of workers; above 100% if several
	// threads waited at a time. A busy node shows here. Absent: none waited, or the
	// kernel does not say.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	RunQueueWait string `json:"runQueueWait,omitempty"`
	// stalled is how long workers did not run at all, in gaps of 100 ms or more, added
	// up: they were stopped, or their nodes too busy. Absent: none was.
	// +optional
	Stalled *metav1.Duration `json:"stalled,omitempty"`
	// gcPauseMax is the longest time for which a worker's garbage collector stopped
	// it. It is part of the measured times, and for information only. Absent: there
	// was none.
	// +optional
	GCPauseMax *metav1.Duration `json:"gcPauseMax,omitempty"`
	// connectionsOpened is the number of connections that were opened in the step.
	ConnectionsOpened int64 `json:"connectionsOpened"`
	// openedInWindow is the number of these that were opened within the window: again after the
	// target had closed them, or because arrivals found none idle. The others were opened
	// before it. Absent: none was.
	// +optional
	OpenedInWindow int64 `json:"openedInWindow,omitempty"`
	// handshakes is the number of connections that are TLS. The time of a handshake is part
	// of a request's times only within the window.
	// +optional
	Handshakes int64 `json:"handshakes,omitempty"`
	// resumedHandshakes is the number of handshakes that resumed the TLS session of an earlier
	// connection, which costs the target less than a full one. Absent: none did.
	// +optional
	ResumedHandshakes int64 `json:"resumedHandshakes,omitempty"`
	// handshakeP50 is the median time of a TLS handshake, such as "1.8ms". Absent with
	// fewer than 2 samples.
	// +optional
	HandshakeP50 *metav1.Duration `json:"handshakeP50,omitempty"`
	// handshakeP99 is the 99th percentile. Absent with fewer than 100 samples.
	// +optional
	HandshakeP99 *metav1.Duration `json:"handshakeP99,omitempty"`
	// connectionsReused is the number of requests that went over a connection which had
	// carried one before.
	// +optional
	ConnectionsReused int64 `json:"connectionsReused,omitempty"`
	// descriptorsExhausted is the number of attempts to connect that failed because a worker
	// had no file descriptor left.
	// +optional
	DescriptorsExhausted int64 `json:"descriptorsExhausted,omitempty"`
	// portsExhausted is the number of attempts to connect that failed because a worker had
	// no local port left.
	// +optional
	PortsExhausted int64 `json:"portsExhausted,omitempty"`
	// reason is the reason of condition GeneratorHealthy, when the generator is not
	// healthy.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`
	// message says what to change when the generator is not healthy.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}
