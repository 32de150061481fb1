package session

import (
	"fmt"
	"os"

	"github.com/loadtest-dev/loadtest-operator/loadworker/attack"
)

// Limits are what the system grants this process.
type Limits struct {
	// Descriptors is how many files and connections may be open.
	Descriptors int64
	// Ports is how many connections one address of a target can have from here.
	Ports int64
	// Memory is how many bytes may be used, by sockets too; 0: nobody says.
	Memory int64
}

// spareDescriptors are for all but the connections to the target.
const spareDescriptors = 64

// portRange is where Linux says which ports connections are made from.
const portRange = "/proc/sys/net/ipv4/ip_local_port_range"

// ports reads the range; where there is none to read, ports are no limit.
func ports() int64 {
	b, _ := os.ReadFile(portRange)
	return portsIn(string(b))
}

// portsIn is how many there are from the first number of a text to the second.
func portsIn(text string) int64 {
	var first, last int64
	if _, err := fmt.Sscan(text, &first, &last); err != nil || last < first {
		return unlimited
	}
	return last - first + 1
}

const unlimited = 1 << 30

// sockets is how many connections to the target can be open. A Service is one
// address, so the ports of one address are all there are.
func (l Limits) sockets() int64 {
	return max(0, min(l.Descriptors-spareDescriptors, l.Ports))
}

// room is for how many connections there is memory.
func (l Limits) room(n need) int64 {
	if l.Memory == 0 {
		return unlimited
	}
	return max(0, (l.Memory-n.base)/n.each)
}

// connections is how many connections to the target fit.
func (l Limits) connections(n need) int64 { return min(l.sockets(), l.room(n)) }

// check refuses steps that need more connections than fit.
func (l Limits) check(steps []attack.StepShare, memory need) error {
	sockets, room := l.sockets(), l.room(memory)
	switch {
	case sockets == 0:
		return fmt.Errorf("the worker may open %d files, which is too few for any connection; raise the limit on open files", l.Descriptors)
	case room == 0:
		return fmt.Errorf("the worker may use %s of memory, and needs %s before any connection: raise spec.worker.resources.limits.memory",
			mebibytes(l.Memory), mebibytes(memory.base+memory.each))
	}
	for _, s := range steps {
		if n := s.Users(); n > sockets {
			return fmt.Errorf("step %d gives the worker %d users, but it can hold %d connections (%d file descriptors, %d ports): set spec.parallelism to %d or more",
				s.Index, n, sockets, l.Descriptors, l.Ports, divideUp(s.Total, sockets))
		} else if n > room {
			return fmt.Errorf("step %d gives the worker %d users, which take %s of memory, but it may use %s: set spec.parallelism to %d or more, or spec.worker.resources.limits.memory to %s",
				s.Index, n, mebibytes(memory.base+n*memory.each), mebibytes(l.Memory), divideUp(s.Total, room), mebibytes(memory.base+n*memory.each))
		}
	}
	return nil
}

func divideUp(n, by int64) int64 { return (n + by - 1) / by }
