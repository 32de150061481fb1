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
	// rejectGone: a session whose worker's pod, Job or LoadTest is gone.
	rejectGone rejection = "gone"
	// rejectPanic: a session on which the coordinator failed.
	rejectPanic rejection = "panic"
	// rejectRoom: a snapshot for which there is no room.
	rejectRoom rejection = "room"
	// rejectStranger: a connection without a session, closed for there were too many.
	rejectStranger rejection = "stranger"
	// rejectFlood: a connection on which came more than a message, and no message.
	rejectFlood rejection = "flood"
)

var rejections = []rejection{
	rejectUnauthenticated, rejectUnverified, rejectHello, rejectIdentity, rejectFull, rejectInvalid, rejectStale, rejectOtherPod,
	rejectGone, rejectPanic, rejectRoom, rejectStranger, rejectFlood,
}

type metrics struct {
	sessions  prometheus.Gauge
	snapshots prometheus.Counter
	paced     prometheus.Counter
	rejected  *prometheus.CounterVec
	merges    prometheus.Histogram
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
		paced: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "loadtest_coordinator_paced_total",
			Help: "Messages that waited because their session sent too many.",
		}),
		rejected: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "loadtest_coordinator_rejected_total",
			Help: "Connections, sessions and snapshots refused, by reason.",
		}, []string{"reason"}),
	}
	m.merges = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "loadtest_coordinator_merge_seconds",
		Help:    "Time to merge the snapshots of a run's workers.",
		Buckets: prometheus.ExponentialBuckets(0.0005, 2, 12),
	})
	for _, why := range rejections {
		m.rejected.WithLabelValues(string(why))
	}
	reg.MustRegister(m.sessions, m.snapshots, m.paced, m.rejected, m.merges)
	return m
}

// reject counts and returns the status that ends a session.
func (c *Coordinator) reject(why rejection, code codes.Code, format string, args ...any) error {
	c.metrics.rejected.WithLabelValues(string(why)).Inc()
	return status.Errorf(code, format, args...)
}
