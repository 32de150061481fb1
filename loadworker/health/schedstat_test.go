package health

import (
	"os"
	"testing"
	"testing/fstest"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/pressure"
)

func TestRunQueueWaitAddsUpTheThreads(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	threads := fstest.MapFS{
		"10/schedstat": file("5000 70 2\n"),
		"11/schedstat": file("0 7 1\n"),
		"11/stat":      file("1 2 3\n"),
		"12/schedstat": file(""), // it has ended
		"13/schedstat": file("1 many 1\n"),
		"14/schedstat": file("1 -1 1\n"),
		"15/schedstat": file("1 1\n"),
	}
	if got := runQueueWait(threads); got != 77 {
		t.Errorf("waited %v, want 77ns", got)
	}
	if got := runQueueWait(fstest.MapFS{}); got != 0 {
		t.Errorf("waited %v without any file, want 0", got)
	}
}

// A thread that always computes either runs or waits: the two add up to the time of all such
// threads, in one unit, however busy the machine is. A control group that is out of time may
// keep them from either.
func TestThreadsThatComputeRunOrWait(t *testing.T) {
	if _, err := os.Stat(threadsFolder); err != nil {
		t.Skip("only Linux says how long threads wait")
	}
	const window = 2 * time.Second
	threads := pressure.Threads(t)
	probe := NewProbe()
	began, before := time.Now(), probe.Sample()
	<-time.After(window)
	h := probe.Sample().Since(before)
	all := time.Duration(threads) * time.Since(began)
	if got, out := h.CPU+h.RunQueueWait, time.Duration(threads)*h.CPUThrottled; got > all*6/5 || got < all*4/5-out {
		t.Errorf("ran for %v and waited for %v, want %v together (%v held back)", h.CPU, h.RunQueueWait, all, h.CPUThrottled)
	}
	if h.RunQueueWait < all/4 || h.RunQueueWaitMax != h.RunQueueWait {
		t.Errorf("waited for %v, at most %v, with four times as many threads as there are processors", h.RunQueueWait, h.RunQueueWaitMax)
	}
}
