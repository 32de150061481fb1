package daemon

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"sync/atomic"
)

// firstPort is below the ports that the system hands out.
const firstPort = 15432

// taken counts the addresses that were handed out.
var taken atomic.Int64

// Address returns host:port where the next server of this process may listen.
// A client keeps an address, which has to be free when a crashed server
// comes back, and no port of 127.0.0.1 that was found free is sure to be so a
// moment later. But all of 127.0.0.0/8 is this machine: each process has an
// address made of its id, and counts ports.
func Address() string { return addressOf(os.Getpid(), int(taken.Add(1))) }

func addressOf(pid, number int) string {
	host := fmt.Sprintf("127.%d.%d.%d", 64+(pid>>16)&0x7f, (pid>>8)&0xff, pid&0xff)
	return net.JoinHostPort(host, strconv.Itoa(firstPort+number))
}
