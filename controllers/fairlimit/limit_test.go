package fairlimit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// However many of a namespace wait, another has its place.
func TestNamespaceLeavesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(3, 2)
		release := make(chan struct{})
		var group sync.WaitGroup
		for range 10 {
			group.Go(func() {
				done, err := p.Acquire(t.Context(), "a")
				if err != nil {
					t.Error(err)
					return
				}
				<-release
				done()
			})
		}
		synctest.Wait()
		if taken, _ := p.Counts(); taken != 2 {
			t.Errorf("a namespace has %d places, want 2", taken)
		}
		done, err := p.Acquire(t.Context(), "b")
		must.Succeed(t, err)
		if taken, namespaces := p.Counts(); taken != 3 || namespaces != 2 {
			t.Errorf("%d places of %d namespaces are taken, want 3 of 2", taken, namespaces)
		}
		done()
		close(release)
		group.Wait()
		if taken, namespaces := p.Counts(); taken != 0 || namespaces != 0 {
			t.Errorf("%d places of %d namespaces are left", taken, namespaces)
		}
	})
}

// What gave up waiting has no place, of its namespace or of all.
func TestWaitingEnds(t *testing.T) {
	for _, of := range []int{1, 2} { // its namespace, or all
		p := New(2, of)
		for i := range 2 {
			if _, err := p.Acquire(t.Context(), fmt.Sprint(i*(2-of))); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := p.Acquire(ctx, "0"); !errors.Is(err, context.Canceled) {
			t.Errorf("of %d: %v, want that it gave up", of, err)
		}
		if taken, _ := p.Counts(); taken != 2 {
			t.Errorf("of %d: %d places are taken, want 2", of, taken)
		}
	}
}
