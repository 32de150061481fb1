package coordinator

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/memory"
)

// simulate runs a test in a bubble, with connections in memory: after synctest.Wait all has
// happened that can.
func simulate(t *testing.T, test func(t *testing.T, r *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { <-time.After(time.Minute) }) // gRPC closes within seconds, in the background
		lis := memory.Listen()
		r := unserved(t)
		r.connTo = lis.DialAddress
		r.serve(lis)
		test(t, r)
	})
}
