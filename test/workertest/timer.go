package workertest

import (
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/pace"
)

// timer is a pace.Timer whose waits a bubble of testing/synctest sees.
type timer struct {
	expired chan struct{}
	after   *time.Timer
}

// NewTimer returns a timer for a bubble of testing/synctest. It receives from no channel of
// the runtime, which crashes Go 1.26 with the race detector if the timer has expired.
func NewTimer() pace.Timer { return &timer{expired: make(chan struct{}, 1)} }

func (m *timer) Set(d time.Duration) {
	m.Close()
	m.after = time.AfterFunc(d, func() {
		select {
		case m.expired <- struct{}{}:
		default:
		}
	})
}

func (m *timer) Wait() { <-m.expired }

func (m *timer) Close() {
	if m.after != nil {
		m.after.Stop()
	}
}
