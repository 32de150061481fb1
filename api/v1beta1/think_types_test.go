package v1beta1_test

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

func TestRangesOfThinkTimes(t *testing.T) {
	if shortest, longest := (*v1beta1.Think)(nil).Range(); shortest != 0 || longest != 0 {
		t.Errorf("no think time is %v to %v", shortest, longest)
	}
	for _, good := range []*v1beta1.Think{nil, v1beta1.NewThink(0, time.Millisecond), v1beta1.NewThink(time.Second, 3*time.Second), v1beta1.NewThink(time.Hour, time.Hour)} {
		if err := good.Check(); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []*v1beta1.Think{{}, v1beta1.NewThink(-1, time.Second), v1beta1.NewThink(2*time.Second, time.Second), v1beta1.NewThink(0, time.Millisecond-1), v1beta1.NewThink(0, time.Hour+1)} {
		if bad.Check() == nil {
			t.Errorf("%v is taken for a range", bad)
		}
	}
}
