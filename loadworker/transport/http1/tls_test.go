package http1

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// If the socket has no room for a request, it has none for close_notify, and Close of
// TLS would block for seconds.
func TestFailureDoesNotWaitForCloseNotify(t *testing.T) {
	client, waited := scripted.Crowded(t)
	c := newTestClient(t, dial.Config{URL: "https://example.com"}).newConn()
	c.adopt(client)
	c.used = time.Now().Add(time.Hour) // it is not checked
	_, err := c.Do(context.Background(), scripted.Large(), time.Now().Add(100*time.Millisecond))
	wantOutcome(t, err, measure.Timeout, failure.Writing)
	if n := waited(); n != 1 {
		t.Errorf("%d writes timed out waiting for room, want that of the request", n)
	}
}

// wantOutcome checks the class of an error and, unless it was interrupted, its phase.
func wantOutcome(t *testing.T, err error, class measure.Outcome, phase failure.Phase) {
	t.Helper()
	var e *failure.Error
	errors.As(err, &e)
	switch {
	case class == measure.Success && err != nil,
		class != measure.Success && (err == nil || failure.Classify(err) != class),
		class != measure.Success && class != measure.Unfinished && (e == nil || e.Phase != phase):
		t.Errorf("%v, of class %v; want class %v in phase %v", err, failure.Classify(err), class, phase)
	}
}
