package kafkatest

import "fmt"

// clusterID is any UUID in Kafka's form, 22 characters of base64.
const clusterID = "a2Fma2F0ZXN0a2Fma2F0ZQ"

// addresses are where a node listens, each host:port.
type addresses struct{ broker, controller string }

// addressesOf returns the addresses of the number-th node of a process. A
// client remembers a broker's address, which therefore has to be known before
// it listens and has to be free when it comes back. No port of 127.0.0.1 that
// was found free is sure to be so a moment later; but all of 127.0.0.0/8 is
// this machine, so that each process takes an address made of its id, and
// ports below those that the system hands out.
func addressesOf(pid, number int) addresses {
	host := fmt.Sprintf("127.%d.%d.%d", 64+(pid>>16)&0x7f, (pid>>8)&0xff, pid&0xff)
	return addresses{
		broker:     fmt.Sprintf("%s:%d", host, 19092+2*number),
		controller: fmt.Sprintf("%s:%d", host, 19093+2*number),
	}
}
