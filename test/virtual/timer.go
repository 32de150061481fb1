package virtual

import (
	"sync"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/pace"
)

// timer is a timer for a bubble. It has no channel of the runtime's: to receive from one
// that has expired crashes Go 1.26 with the race detector.
type timer struct {
	mu      sync.Mutex
	timer   *time.Timer
	expired chan struct{}
}

var _ pace.Timer = (*timer)(nil)

// NewTimer returns a timer for a bubble.
func NewTimer() pace.Timer {
	return &timer{timer: time.AfterFunc(0, func() {}), expired: make(chan struct{}, 1)}
}

func (v *timer) Set(d time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.timer.Stop()
	v.timer = time.AfterFunc(d, func() {
		select {
		case v.expired <- struct{}{}:
		default:
		}
	})
}

func (v *timer) Wait() { <-v.expired }

func (v *timer) Close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.timer.Stop()
}
