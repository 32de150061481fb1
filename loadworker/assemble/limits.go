package assemble

import (
	"fmt"
	"math"
	"runtime/debug"
	"strings"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/attack"
	"github.com/loadtest-dev/loadtest-operator/loadworker/health"
	"github.com/loadtest-dev/loadtest-operator/pace"
)

const (
	kib = 1 << 10
	mib = 1 << 20
	// spareDescriptors are for all but the connections to the target.
	spareDescriptors = 64
	// baseMemory is for all but connections and histograms: a worker that waits for
	// its operator has 13 MB; the rest is for a session and its snapshots.
	baseMemory = 24 * mib
	// kernelMemory is what a connection takes in the kernel, which is charged to
	// the control group as well: half of the 8 to 10 KB by which its slabs grew for
	// both sides of one.
	kernelMemory = 5 * kib
	// sessionMemory is what a connection's TLS session takes: 0.9 KB were measured.
	sessionMemory = 1 * kib
)

// need is the memory that a worker needs: each for a connection, base for all else.
type need struct{ base, each int64 }

// memoryNeed counts a connection to a control with each to the target: those of the one
// are kept while the other has its steps. Each user has one to each other target, too.
func memoryNeed(a *workerv1.Assignment) need {
	n := need{base: baseMemory + replayMemory(a) + attack.Memory(len(a.GetRequests()), len(a.GetJourneys()), streamsOf(a))}
	for _, of := range assignmentsOf(a) {
		n.base += targetsMemory(of) + descriptorsMemory(of) + tablesMemory(of)
		n.each += connectionMemory(of.GetTarget(), of.GetDriver()) + userMemory(of)
		for _, other := range of.GetOtherTargets() {
			n.each += connectionMemory(other, of.GetDriver())
		}
		n.each += webSocketsMemory(of)
	}
	return n
}

// streamsOf is how many requests may be answered by a stream.
func streamsOf(a *workerv1.Assignment) (n int) {
	for _, r := range a.GetRequests() {
		if r.GetStream() != nil || r.GetCall() != nil {
			n++
		}
	}
	return n
}

// limitsOfEach are the limits for the connections to one of several targets, which may
// have the same address.
func limitsOfEach(l health.Limits, targets int) health.Limits {
	if targets > 1 {
		l.Descriptors = spareDescriptors + (l.Descriptors-spareDescriptors)/int64(targets)
		l.Ports /= int64(targets)
	}
	return l
}

// connectionMemory is what a connection to a target takes at most while the garbage collector
// keeps to MemoryGoal: the growth of resident memory, its peak, over 2,000 users who connect
// at once, on amd64 with Go 1.26. What was measured is given behind each figure, which is a
// tenth above it. A connection takes most while it is opened, by a goroutine, and so if the
// target stands still: one that answers no SYN costs a plain connection four times what a
// request in flight does, one that answers no handshake takes twice what TLS does after it.
//
// Those of net/http, which proxies have and vegeta, are of 4,000 users whose requests were
// held for 12 s, without a goal; vegeta's are not measured.
func connectionMemory(t *workerv1.Target, driver workerv1.Driver) int64 {
	secure, own := isSecure(t), int64(0)
	switch library := driver == workerv1.Driver_DRIVER_VEGETA || t.GetProxyUrl() != ""; {
	case library && t.GetProtocol() == workerv1.Protocol_PROTOCOL_HTTP2 && secure:
		own = 50 * kib // 47.9
	case library && t.GetProtocol() == workerv1.Protocol_PROTOCOL_HTTP2:
		own = 32 * kib // 31.3
	case library && secure:
		own = 43 * kib // 39.1
	case library:
		own = 26 * kib // 25.1
	case secure:
		own = 40 * kib // 32.9; with 38, a worker beside busy programs took 0.7 MB more than its 92
	default:
		own = 15 * kib // 13.6
	}
	if t.GetTls().GetResume() {
		own += sessionMemory
	}
	return own + kernelMemory
}

// MemoryGoal is how much memory the garbage collector is to aim at: four fifths. The rest is
// for the kernel's part of connections. Without a goal, the heap may grow to twice what lives,
// and past the limit.
func MemoryGoal(l health.Limits) int64 {
	if l.Memory == 0 {
		return math.MaxInt64
	}
	return l.Memory / 5 * 4
}

// LimitMemory has the garbage collector of this process keep to MemoryGoal, unless $GOMEMLIMIT is set.
func LimitMemory(getenv func(string) string, l health.Limits) {
	if getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(MemoryGoal(l))
	}
}

func isSecure(t *workerv1.Target) bool { return strings.HasPrefix(t.GetUrl(), "https://") }

// sockets is how many connections to the target can be open. A Service is one
// address, so the ports of one address are all there are.
func sockets(l health.Limits) int64 {
	return max(0, min(l.Descriptors-spareDescriptors, l.Ports))
}

// fitMemory is how many connections fit into the memory.
func fitMemory(l health.Limits, n need) int64 {
	if l.Memory == 0 {
		return health.Unlimited
	}
	return max(0, (l.Memory-n.base)/n.each)
}

// connections is how many connections to the target fit.
func connections(l health.Limits, n need) int64 { return min(sockets(l), fitMemory(l, n)) }

// checkLimits refuses steps that need more connections than fit.
func checkLimits(l health.Limits, steps []attack.StepShare, memory need) error {
	sockets, fit := sockets(l), fitMemory(l, memory)
	switch {
	case sockets == 0:
		return fmt.Errorf("the worker may open %d files, which is too few for any connection; raise the limit on open files", l.Descriptors)
	case fit == 0:
		return fmt.Errorf("the worker may use %s of memory, but needs %s before any connection: raise spec.worker.resources.limits.memory",
			mebibytes(l.Memory), mebibytes(memory.base+memory.each))
	}
	for _, s := range steps {
		if n := s.Users(); n > sockets {
			return fmt.Errorf("step %d gives the worker %d users, but it can hold %d connections (%d file descriptors, %d ports): set spec.parallelism to %d or more",
				s.Index, n, sockets, l.Descriptors, l.Ports, pace.DivideUp(s.Total, sockets))
		} else if n > fit {
			return fmt.Errorf("step %d gives the worker %d users, which take %s of memory, but it may use %s: set spec.parallelism to %d or more, or spec.worker.resources.limits.memory to %s",
				s.Index, n, mebibytes(memory.base+n*memory.each), mebibytes(l.Memory), pace.DivideUp(s.Total, fit), mebibytes(memory.base+n*memory.each))
		}
	}
	return nil
}

// The memory for bodies of responses that are looked at, for expectations and captures: a
// quarter of what users leave, since what is freed of it stays until it is collected. The
// most serves 256 bodies of the largest kind at one time; the least is for a worker whose
// connections take all, and is a third of baseMemory.
const (
	leastBodies = 8 * mib
	mostBodies  = 256 * mib
)

func memoryOfBodies(l health.Limits, steps []attack.StepShare, memory need) int64 {
	if l.Memory == 0 {
		return mostBodies
	}
	var users int64
	for _, s := range steps {
		users = max(users, s.Users())
	}
	return min(max((l.Memory-memory.base-users*memory.each)/4, leastBodies), mostBodies)
}

// mebibytes is a size as Kubernetes spells it, rounded up.
func mebibytes(n int64) string { return fmt.Sprintf("%dMi", pace.DivideUp(n, mib)) }
