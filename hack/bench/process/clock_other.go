//go:build !linux

package process

import (
	"errors"
	"time"
)

func cpuTime(int) (time.Duration, error) {
	return 0, errors.New("the processor time of another process needs Linux")
}
