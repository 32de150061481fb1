package build

import (
	"bytes"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
)

func TestProgressInALogIsSparse(t *testing.T) {
	var log bytes.Buffer
	report := Lines(&log, "cluster", "Kubernetes")
	for second := 3; second <= 27; second += 3 {
		report(Progress{Done: second * 10, Total: 270, Elapsed: time.Duration(second) * time.Second})
	}
	report(Progress{Done: 270, Total: 270, Elapsed: 28 * time.Second, Ended: true})
	want := `cluster: building Kubernetes: 30 of 270 packages, 3s
cluster: building Kubernetes: 150 of 270 packages, 15s
cluster: linking Kubernetes, 27s
cluster: built Kubernetes in 28s
`
	same.As(t, "log", want, log.String())
}
