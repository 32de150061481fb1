package serve

import (
	"crypto/rand"
	"os"
	"strings"
)

// InstanceID tells replicas apart, and one life of a replica from the next: the
// host's name, which in a cluster is the pod's, and a few random characters.
func InstanceID() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return host + "-" + strings.ToLower(rand.Text()[:6])
}
