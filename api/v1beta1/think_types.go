package v1beta1

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Think is how long a user waits after a response before its next request. Each wait is drawn
// from min to max, every time in between as likely as any other, by the run's random seed.
//
// +kubebuilder:validation:XValidation:rule="[self.min, self.max].all(t, t.matches('^([0-9]+([.][0-9]+)?(us|µs|ms|s|m|h))+$')) && duration(self.min) <= duration(self.max) && duration(self.max) >= duration('1ms') && duration(self.max) <= duration('1h')",message="must have two times from 0s to 1h, of which max is from 1ms and not below min, such as {min: 1s, max: 3s}"
type Think struct {
	// min is the shortest wait. Example: 1s.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	Min metav1.Duration `json:"min"`

	// max is the longest wait. Each wait takes as long if it equals min. Example: 3s.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	Max metav1.Duration `json:"max"`
}

const (
	minThink = time.Millisecond
	maxThink = time.Hour
)

// NewThink is a wait from shortest to longest.
func NewThink(shortest, longest time.Duration) *Think {
	return &Think{Min: metav1.Duration{Duration: shortest}, Max: metav1.Duration{Duration: longest}}
}

// Range is the shortest and the longest wait; both are 0 when there is none.
func (t *Think) Range() (shortest, longest time.Duration) {
	if t == nil {
		return 0, 0
	}
	return t.Min.Duration, t.Max.Duration
}

// Check refuses what is no range of waits.
func (t *Think) Check() error {
	if shortest, longest := t.Range(); t != nil && (shortest < 0 || longest < shortest || longest < minThink || longest > maxThink) {
		return fmt.Errorf("%v to %v is no range: it must have two times from 0s to 1h, of which max is from %v and not below min", shortest, longest, minThink)
	}
	return nil
}
