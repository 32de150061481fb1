package coordinator

import (
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// rejection is why a session was refused or a message not accepted.
type rejection string

const (
	// rejectUnauthenticated: no token, or an invalid one.
	rejectUnauthenticated rejection = "unauthenticated"
	// rejectUnverified: the token could not be verified now.
	rejectUnverified rejection = "unverified"
	// rejectHello: no hello, in time and first, or of another protocol.
	rejectHello rejection = "hello"
	// rejectIdentity: the hello contradicts the token, or the run has no such worker.
	rejectIdentity rejection = "identity"
	// rejectFull: too many runs wait for a directive.
	rejectFull rejection = "full"
	// rejectInvalid: a message that does not add up.
	rejectInvalid rejection = "invalid"
	// rejectStale: a snapshot older than what is known. Some are normal after a
	// reconnect.
	rejectStale rejection = "stale"
	// rejectOtherPod: a snapshot of a step that another pod with this worker's
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

// reject counts and returns the status that ends a session.
func (c *Coordinator) reject(why rejection, code codes.Code, format string, args ...any) error {
	c.metrics.rejected.WithLabelValues(string(why)).Inc()
	return status.Errorf(code, format, args...)
}
