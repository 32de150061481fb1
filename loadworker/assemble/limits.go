package assemble

import (
	"fmt"
	"runtime"
	"strings"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/attack"
	"github.com/loadtest-dev/loadtest-operator/loadworker/health"
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
)

// need is the memory that a worker needs: each for a connection, base for all else.
type need struct{ base, each int64 }

// memoryNeed counts a connection to a control with each to the target: those of the one
// are kept while the other has its steps.
func memoryNeed(a *workerv1.Assignment) need {
	n := need{base: baseMemory + attack.Memory(len(a.GetRequests()), len(a.GetJourneys()))}
	for _, of := range assignmentsOf(a) {
		n.base += targetsMemory(of) + descriptorsMemory(of.GetTarget())
		n.each += connectionMemory(of.GetTarget(), of.GetDriver()) + userMemory(of)
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

// connectionMemory is what a connection to a target takes while a request is in
// flight on it. All figures are the growth of resident memory, its peak, over
// 4,000 users whose requests were held for 12 s, on amd64 with Go 1.26: each is a
// little above what was measured, which is given behind it. vegeta's are not measured: it
// has the connections of net/http that one through a proxy has.
func connectionMemory(t *workerv1.Target, driver workerv1.Driver) int64 {
	secure := isSecure(t)
	vegeta := driver == workerv1.Driver_DRIVER_VEGETA
	own := int64(0)
	switch {
	case t.GetProtocol() == workerv1.Protocol_PROTOCOL_HTTP2 && secure:
		own = 50 * kib // 47.9
	case t.GetProtocol() == workerv1.Protocol_PROTOCOL_HTTP2:
		own = 32 * kib // 31.3
	case (vegeta || t.GetProxyUrl() != "") && secure:
		own = 40 * kib // 39.1
	case vegeta || t.GetProxyUrl() != "":
		own = 26 * kib // 25.1
	case secure:
		own = 25 * kib // 24.1
	case t.GetDisableKeepAlive() || runtime.GOOS != "linux": // a goroutine each
		own = 8 * kib // 7.3
	default: // event loops
		own = 4 * kib // 3.2
	}
	return own + kernelMemory
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
		return fmt.Errorf("the worker may use %s of memory, and needs %s before any connection: raise spec.worker.resources.limits.memory",
			mebibytes(l.Memory), mebibytes(memory.base+memory.each))
	}
	for _, s := range steps {
		if n := s.Users(); n > sockets {
			return fmt.Errorf("step %d gives the worker %d users, but it can hold %d connections (%d file descriptors, %d ports): set spec.parallelism to %d or more",
				s.Index, n, sockets, l.Descriptors, l.Ports, divideUp(s.Total, sockets))
		} else if n > fit {
			return fmt.Errorf("step %d gives the worker %d users, which take %s of memory, but it may use %s: set spec.parallelism to %d or more, or spec.worker.resources.limits.memory to %s",
				s.Index, n, mebibytes(memory.base+n*memory.each), mebibytes(l.Memory), divideUp(s.Total, fit), mebibytes(memory.base+n*memory.each))
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
func mebibytes(n int64) string { return fmt.Sprintf("%dMi", divideUp(n, mib)) }

func divideUp(n, by int64) int64 { return (n + by - 1) / by }
