package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

func main() {
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
			late, waited := sleepUntil(time.Unix(0, nanos))
			mu.Lock()
			defer mu.Unlock()
			if _, err := fmt.Fprintln(out, id, late.Nanoseconds(), waited.Nanoseconds()); err != nil {
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
