package defects_test

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/pressure"
)

// What a worker's threads waited on this machine, as its kernel counts it, is the reason by which
// its generator is not healthy. The status has as much of it as there was: threads that always
// compute run or wait.
func TestABusyMachineIsNamed(t *testing.T) {
	const length = 2 * time.Second
	threads, began := pressure.Threads(t), time.Now()
	o := experiment{
		busy: true, spec: v1beta1.LoadTestSpec{Steps: arrivals("20", length)},
		alter: func(_ int, s *measure.Measurement) {
			s.Health.CPUThrottled, s.Health.Stalled = 0, 0
			s.Requests[0].Due += 20
			s.Due, s.Unsent, s.UnsentByGenerator = s.Due+20, s.Unsent+20, s.UnsentByGenerator+20
		},
	}.run(t)
	g := o.result.Generator
	if g.Healthy || g.Reason != v1beta1.ReasonNodeBusy {
		t.Errorf("the generator is healthy: %t, %s: %s", g.Healthy, g.Reason, g.Message)
	}
	share := rateOf(t, strings.TrimSuffix(g.RunQueueWait, "%"))
	waited, _ := share.Mul(share, big.NewRat(int64(length/time.Second), 100)).Float64()
	all := time.Duration(waited*float64(time.Second)) + g.CPUTime.Duration
	// The drain counts, too.
	if least, most := time.Duration(threads)*length*7/10, time.Duration(threads)*time.Since(began)*12/10; all < least || all > most {
		t.Errorf("ran for %v and waited for %s of %v, want %v to %v together", g.CPUTime, g.RunQueueWait, length, least, most)
	}
}
