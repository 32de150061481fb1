package command

import (
	"context"
	"errors"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// Try is the command try, and returns the LoadTest that ran, too.
func Try(ctx context.Context, system string, streams Streams) (int, *v1beta1.LoadTest) {
	came, err := (&config{streams: streams}).runTry(ctx, system, "", nil)
	var verdict verdictError
	if err != nil && !errors.As(err, &verdict) {
		return codeError, came.test
	}
	return verdict.code, came.test
}
