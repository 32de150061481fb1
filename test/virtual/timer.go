package virtual

import (
	"sync"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/timer"
)

// bubbleTimer is a timer for a bubble. It has no channel of the runtime's: to receive from one
// that has expired crashes Go 1.26 with the race detector.
type bubbleTimer struct {
	mu      sync.Mutex
	timer   *time.Timer
	expired chan struct{}
}

var _ timer.Timer = (*bubbleTimer)(nil)

// NewTimer returns a timer for a bubble.
func NewTimer() timer.Timer {
	return &bubbleTimer{timer: time.AfterFunc(0, func() {}), expired: make(chan struct{}, 1)}
}

func (v *bubbleTimer) Set(d time.Duration) {
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

func (v *bubbleTimer) Wait() { <-v.expired }

func (v *bubbleTimer) Close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.timer.Stop()
}
