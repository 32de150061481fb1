package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"time"
)

// mostAtOnce is how many threads may wake up at one instant without waiting for another to
// answer: the Go runtime lets so many run at once.
const mostAtOnce = 256

func main() {
	runtime.GOMAXPROCS(mostAtOnce)
	if err := checkPriority(); err != nil {
		fmt.Fprintln(os.Stderr, "waker: a thread may not have real-time priority, which needs CAP_SYS_NICE:", err)
		os.Exit(1)
	}
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "waker:", err)
		os.Exit(1)
	}
}

// serve reads instants until there are no more, and answers each when it has come.
func serve(in io.Reader, out io.Writer) error {
	var (
		mu      sync.Mutex // of out
		wakes   sync.WaitGroup
		lines   = bufio.NewScanner(in)
		failure error
	)
	for lines.Scan() {
		var id, nanos int64
		if _, err := fmt.Sscan(lines.Text(), &id, &nanos); err != nil {
			return fmt.Errorf("%q is not an identifier and an instant: %w", lines.Text(), err)
		}
		wakes.Go(func() {
			late := sleepUntil(time.Unix(0, nanos))
			mu.Lock()
			defer mu.Unlock()
			if _, err := fmt.Fprintln(out, id, late.Nanoseconds()); err != nil {
				failure = err
			}
		})
	}
	wakes.Wait()
	if failure != nil {
		return failure
	}
	return lines.Err()
}
