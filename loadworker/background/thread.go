package background

import "runtime"

// Thread runs one function after another.
type Thread struct {
	work chan func()
	done chan struct{}
}

// Start starts a thread, which Close ends.
func Start() *Thread {
	t := &Thread{work: make(chan func()), done: make(chan struct{})}
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine, and its priority with it
		lower()
		for f := range t.work {
			f()
			t.done <- struct{}{}
		}
	}()
	return t
}

// Run runs a function, and returns when it has ended. One goroutine at a time may call it.
func (t *Thread) Run(f func()) {
	t.work <- f
	<-t.done
}

// Close ends the thread.
func (t *Thread) Close() { close(t.work) }
