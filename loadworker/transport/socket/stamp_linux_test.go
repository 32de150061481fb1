package socket

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A control message that is missing, of another kind or from the future says nothing.
func TestWaitIsUnknownWithoutAStamp(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	stamped := func(level, kind int32, at time.Time) *Control {
		// The header is a length of eight bytes, a level and a kind; then come seconds
		// and nanoseconds.
		return &Control{32, uint64(uint32(level)) | uint64(kind)<<32, uint64(at.Unix()), uint64(at.Nanosecond())}
	}
	ago := now.Add(-1500 * time.Millisecond)
	for name, tc := range map[string]struct {
		c    *Control
		n    int
		want time.Duration
	}{
		"a stamp":          {stamped(unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, ago), 32, 1500 * time.Millisecond},
		"no message":       {stamped(unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, ago), 0, 0},
		"a short message":  {stamped(unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, ago), 31, 0},
		"another level":    {stamped(unix.SOL_TCP, unix.SO_TIMESTAMPNS, ago), 32, 0},
		"another kind":     {stamped(unix.SOL_SOCKET, unix.SO_TIMESTAMP, ago), 32, 0},
		"a clock set back": {stamped(unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, now.Add(time.Hour)), 32, 0},
	} {
		if got := tc.c.waited(tc.n, now); got != tc.want {
			t.Errorf("%s: waited %v, want %v", name, got, tc.want)
		}
	}
}
