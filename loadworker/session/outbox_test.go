package session

import (
	"context"
	"testing"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func numbered(n int64) *workerv1.SessionRequest {
	return &workerv1.SessionRequest{Message: &workerv1.SessionRequest_Snapshot{Snapshot: &workerv1.Snapshot{Sequence: n}}}
}

func TestOutboxKeepsTheLatestOfEachKeyInOrder(t *testing.T) {
	o := newOutbox()
	o.put("a", numbered(1))
	o.put("b", numbered(2))
	o.put("a", numbered(3))
	var got []int64
	for range 2 {
		got = append(got, o.next(t.Context()).GetSnapshot().GetSequence())
	}
	same.As(t, "messages", []int64{3, 2}, got)
	o.put("a", numbered(4))
	if m := o.next(t.Context()); m.GetSnapshot().GetSequence() != 4 {
		t.Errorf("next = %v, want 4: a key may come again", m)
	}
}

func TestOutboxWaits(t *testing.T) {
	o := newOutbox()
	got := make(chan *workerv1.SessionRequest)
	go func() { got <- o.next(t.Context()) }()
	o.put("a", numbered(7))
	if m := <-got; m.GetSnapshot().GetSequence() != 7 {
		t.Errorf("next = %v, want 7", m)
	}
}

func TestOutboxEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if m := newOutbox().next(ctx); m != nil {
		t.Errorf("next = %v, want nothing", m)
	}
}
