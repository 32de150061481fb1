package scripted

import "time"

// Watcher is a watcher of a stream that counts the events of each call.
type Watcher struct{ Calls []int }

// Came notes that events came.
func (w *Watcher) Came(n int, _ time.Duration) { w.Calls = append(w.Calls, n) }

// Sum is how many events came in all.
func (w *Watcher) Sum() (n int) {
	for _, call := range w.Calls {
		n += call
	}
	return n
}
