package command

import (
	"context"
	"errors"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/exitcode"
)

// Try is the command try, and returns the LoadTest that ran, too.
func Try(ctx context.Context, system string, streams Streams) (int, *v1beta1.LoadTest) {
	came, err := (&config{streams: streams}).runner(nil).Try(ctx, system, "")
	var verdict exitcode.Verdict
	if err != nil && !errors.As(err, &verdict) {
		return exitcode.Error, came.Test
	}
	return verdict.Code, came.Test
}
