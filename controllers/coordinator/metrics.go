package coordinator

import "github.com/prometheus/client_golang/prometheus"

// rejection is why something a worker said was not taken.
type rejection string

const (
	// rejectUnauthenticated: no token, or one that is no good.
	rejectUnauthenticated rejection = "unauthenticated"
	// rejectUnverified: the token could not be verified now.
	rejectUnverified rejection = "unverified"
	// rejectHello: no hello, in time and first, or of another protocol.
	rejectHello rejection = "hello"
	// rejectIdentity: the worker is not who it says, or not one of the run's.
	rejectIdentity rejection = "identity"
	// rejectFull: too many runs wait for a directive.
	rejectFull rejection = "full"
	// rejectInvalid: a message that does not add up.
	rejectInvalid rejection = "invalid"
	// rejectStale: a snapshot older than what is known. Some are normal after a
	// reconnect.
	rejectStale rejection = "stale"
	// rejectOtherPod: a snapshot of a step of which another pod with this worker's
	// number reported already.
	rejectOtherPod rejection = "other_pod"
)

var rejections = []rejection{
	rejectUnauthenticated, rejectUnverified, rejectHello, rejectIdentity, rejectFull, rejectInvalid, rejectStale, rejectOtherPod,
}

type metrics struct {
	sessions  prometheus.Gauge
	snapshots prometheus.Counter
	rejected  *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		sessions: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "loadtest_coordinator_sessions",
			Help: "Workers connected.",
		}),
		snapshots: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "loadtest_coordinator_snapshots_total",
			Help: "Snapshots taken from workers.",
		}),
		rejected: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "loadtest_coordinator_rejected_total",
			Help: "Sessions refused and snapshots not taken, by reason.",
		}, []string{"reason"}),
	}
	for _, why := range rejections {
		m.rejected.WithLabelValues(string(why))
	}
	reg.MustRegister(m.sessions, m.snapshots, m.rejected)
	return m
}
