package same_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// noted is a test that notes what is reported.
type noted struct {
	testing.TB
	reports []string
}

func (n *noted) Helper() {}

func (n *noted) Errorf(format string, args ...any) {
	n.reports = append(n.reports, fmt.Sprintf(format, args...))
}

func TestDifferencesAreReportedWithTheirSubject(t *testing.T) {
	n := &noted{}
	same.As(n, "numbers", []int{1, 2}, []int{1, 2})
	if n.reports != nil {
		t.Errorf("equal values are reported: %q", n.reports)
	}
	same.As(n, "numbers", []int{1, 2}, []int{1, 3})
	if len(n.reports) != 1 || !strings.HasPrefix(n.reports[0], "numbers (-want +got):") {
		t.Errorf("reported %q", n.reports)
	}
}
