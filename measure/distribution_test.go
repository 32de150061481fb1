package measure

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestPercentilesGoOnToTheLongestTime(t *testing.T) {
	h := NewHistogram()
	if got := h.Percentiles(); got != nil {
		t.Errorf("an empty histogram has %v", got)
	}
	for i := range 1000 {
		h.Record(time.Duration(i+1) * time.Millisecond)
	}
	list := h.Percentiles()
	var before Percentile
	for _, p := range list {
		if p.Share < before.Share || p.Time < before.Time || p.Count < before.Count {
			t.Errorf("%+v comes after %+v", p, before)
		}
		if want := float64(p.Count) / 1000; p.Share > want+1e-9 {
			t.Errorf("%+v: %g of the times are that short", p, want)
		}
		before = p
	}
	if before.Share != 1 || before.Count != 1000 || before.Time != h.Max() {
		t.Errorf("the last is %+v, want all 1000 times, the longest being %v", before, h.Max())
	}
}

func TestWritePercentilesIsInMilliseconds(t *testing.T) {
	h := NewHistogram()
	h.Record(2 * time.Second)
	var b bytes.Buffer
	must.Succeed(t, h.WritePercentiles(&b))
	for _, want := range []string{"Value", "1/(1-Percentile)", "    2000.895     1.000000            1          inf", "Total count    =            1]"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, b.String())
		}
	}
}
