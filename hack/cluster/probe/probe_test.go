package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
)

var errNotYet = errors.New("not yet")

func TestUntilRepeatsTheCheck(t *testing.T) {
	calls := 0
	err := Until(t.Context(), "the third call", func(context.Context) error {
		if calls++; calls < 3 {
			return errNotYet
		}
		return nil
	})
	if err != nil || calls != 3 {
		t.Errorf("after %d calls: %v, want success at the third", calls, err)
	}
}

func TestUntilNamesWhatItAwaitedAndTheLastError(t *testing.T) {
	cause := errors.New("the time is up")
	ctx, cancel := context.WithCancelCause(t.Context())
	err := Until(ctx, "the server", func(context.Context) error {
		cancel(cause)
		return errNotYet
	})
	if !errors.Is(err, cause) || !errors.Is(err, errNotYet) || !strings.Contains(err.Error(), "wait for the server") {
		t.Errorf("error is %v, want what, the cause and the last failure", err)
	}
}

func TestUntilStopsAtAPermanentFailure(t *testing.T) {
	calls := 0
	err := Until(t.Context(), "a dead process", func(context.Context) error {
		calls++
		return fmt.Errorf("%w: it has ended", ErrPermanent)
	})
	if !errors.Is(err, ErrPermanent) || calls != 1 {
		t.Errorf("after %d calls: %v, want to give up at the first", calls, err)
	}
}

func TestDialReportsWhetherSomethingListens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	check := Dial("unix", path)
	if err := check(t.Context()); err == nil {
		t.Error("a socket that is not there answers")
	}
	listener, err := net.Listen("unix", path)
	must.Succeed(t, err)
	defer listener.Close()
	must.Report(t, "a socket that listens does not answer", check(t.Context()))
}
