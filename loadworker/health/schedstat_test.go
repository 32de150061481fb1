package health

import (
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"
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

// More threads that compute than there are processors wait for each other.
func TestThreadsBeyondTheProcessorsWait(t *testing.T) {
	if _, err := os.Stat(threadsFolder); err != nil {
		t.Skip("only Linux says how long threads wait")
	}
	threads := 4 * runtime.NumCPU()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
	var stop atomic.Bool
	defer stop.Store(true)
	for range threads {
		go func() {
			for !stop.Load() {
				continue
			}
		}()
	}
	probe := NewProbe()
	before := probe.Sample()
	for began := time.Now(); time.Since(began) < 30*time.Second; {
		if h := probe.Sample().Since(before); h.RunQueueWait > 20*time.Millisecond && h.RunQueueWaitMax == h.RunQueueWait {
			return
		}
	}
	t.Error("no thread waited, with four times as many as there are processors")
}
