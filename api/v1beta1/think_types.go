package v1beta1

import (
	"fmt"
	"strings"
	"time"
)

// Think is how long a user waits after a response before its next request: a time such as
// 2s, or a range such as 1s-3s, from which each wait is drawn, every time in it as likely
// as any other. The draws follow the run's random seed.
//
// +kubebuilder:validation:MinLength=2
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(us|µs|ms|s|m|h))+(-([0-9]+([.][0-9]+)?(us|µs|ms|s|m|h))+)?$') && duration(self.split('-')[0]) >= duration('0s') && duration(self.split('-')[0]) <= duration(self.split('-')[self.split('-').size() - 1]) && duration(self.split('-')[self.split('-').size() - 1]) >= duration('1ms') && duration(self.split('-')[self.split('-').size() - 1]) <= duration('1h')",message="must be a time from 1ms to 1h such as 2s, or a range from the shorter to the longer, such as 1s-3s"
type Think string

const (
	minThink = time.Millisecond
	maxThink = time.Hour
)

// Range is the shortest and the longest wait; both are 0 when there is none.
func (t Think) Range() (shortest, longest time.Duration, err error) {
	if t == "" {
		return 0, 0, nil
	}
	first, last, isRange := strings.Cut(string(t), "-")
	if !isRange {
		last = first
	}
	shortest, errShortest := time.ParseDuration(first)
	longest, errLongest := time.ParseDuration(last)
	if errShortest != nil || errLongest != nil || shortest < 0 || longest < shortest || longest < minThink || longest > maxThink {
		return 0, 0, fmt.Errorf("%q must be a time from %v to 1h such as 2s, or a range from the shorter to the longer, such as 1s-3s", t, minThink)
	}
	return shortest, longest, nil
}
