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
}

// spareDescriptors are for all but the connections to the target.
const spareDescriptors = 64

// portRange is where Linux says which ports connections are made from.
const portRange = "/proc/sys/net/ipv4/ip_local_port_range"

// ports reads the range; where there is none to read, ports are no limit.
func ports() int64 {
	b, err := os.ReadFile(portRange)
	if err != nil {
		return unlimited
	}
	var first, last int64
	if _, err := fmt.Sscan(string(b), &first, &last); err != nil || last < first {
		return unlimited
	}
	return last - first + 1
}

const unlimited = 1 << 30

// Connections is how many connections to the target fit. A Service is one
// address, so the ports of one address are all there are.
func (l Limits) Connections() int64 {
	return max(0, min(l.Descriptors-spareDescriptors, l.Ports))
}

// check refuses steps that need more connections than fit.
func (l Limits) check(steps []attack.Step) error {
	fit := l.Connections()
	if fit == 0 {
		return fmt.Errorf("the worker may open %d files, which is too few for any connection; raise the limit on open files", l.Descriptors)
	}
	for _, s := range steps {
		if s.Users() <= fit {
			continue
		}
		return fmt.Errorf("step %d gives the worker %d users, but it can hold %d connections (%d file descriptors, %d ports): set spec.parallelism to %d or more",
			s.Index, s.Users(), fit, l.Descriptors, l.Ports, (s.Total+fit-1)/fit)
	}
	return nil
}
