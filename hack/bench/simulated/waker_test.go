package simulated

import (
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// A program that fails at its start is not waited for, and its error is said.
func TestWakerThatFailsAtItsStart(t *testing.T) {
	w, err := StartWaker(t.Context(), "cp") // which wants arguments
	if err == nil {
		t.Fatal("it has started", w.Stop())
	}
	if !strings.Contains(err.Error(), "exit status") || !strings.Contains(err.Error(), "cp: ") {
		t.Errorf("%v; want the exit status, and what the program said", err)
	}
}

func TestWakerIsReadyOnceItAnswers(t *testing.T) {
	w, err := StartWaker(t.Context(), "cat") // which says that it was as late as the instant is
	must.Succeed(t, err)
	at, late := time.Unix(0, 17), make(chan time.Duration, 1)
	must.Succeed(t, w.At(at, func(d time.Duration) { late <- d }))
	same.As(t, "lateness", 17, <-late)
	must.Report(t, "Stop", w.Stop())
}
