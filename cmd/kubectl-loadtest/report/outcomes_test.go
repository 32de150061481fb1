package report_test

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
)

func TestStatusesOfGRPCHaveNames(t *testing.T) {
	c := &v1alpha1.Counts{Completed: 9, StatusCodes: []v1alpha1.StatusCodeCount{{Code: 0, Count: 4}, {Code: 5, Count: 2}, {Code: 404, Count: 1}}}
	if got, want := report.StatusCodes(c), "OK: 4 · NOT_FOUND: 2 · 404: 1 · others: 2"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
