package assemble

import (
	"strings"
	"testing"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// The workers' connections add up to those of the target, and each has one.
func TestConnectionsAreDividedAmongWorkers(t *testing.T) {
	for _, tt := range []struct {
		connections int32
		want        [4]int
	}{{0, [4]int{1, 1, 1, 1}}, {3, [4]int{1, 1, 1, 1}}, {4, [4]int{1, 1, 1, 1}}, {6, [4]int{2, 2, 1, 1}}, {9, [4]int{3, 2, 2, 2}}} {
		for worker, want := range tt.want {
			a := &workerv1.Assignment{Worker: int32(worker), Workers: 4, Target: &workerv1.Target{Http2Connections: tt.connections, Http2Streams: 5}}
			if got := sharedOf(a); got.Connections != want || got.Streams != 5 {
				t.Errorf("%d connections, worker %d: %+v, want %d", tt.connections, worker, got, want)
			}
		}
	}
}

func TestVegetaDoesNotShareConnectionsOfHTTP2(t *testing.T) {
	a := &workerv1.Assignment{Driver: workerv1.Driver_DRIVER_VEGETA, Target: &workerv1.Target{Url: "http://x", Protocol: workerv1.Protocol_PROTOCOL_HTTP2, Http2Connections: 2}}
	if _, err := newStepClient(a, Config{}); err == nil || !strings.HasPrefix(err.Error(), "target.http2: ") {
		t.Errorf("%v, want a refusal", err)
	}
}
