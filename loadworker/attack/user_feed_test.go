package attack

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestUserQueueIsInOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var q userQueue
	var want []time.Duration
	for range 5000 {
		if len(want) > 0 && random.IntN(5) < 2 {
			if got := q.pop(); got.due != want[0] || got.user != int(got.due) {
				t.Fatalf("popped %+v, want due %d", got, want[0])
			}
			want = want[1:]
			continue
		}
		due := time.Duration(random.IntN(1000))
		q.push(queuedUser{due: due, user: int(due)})
		i, _ := slices.BinarySearch(want, due)
		want = slices.Insert(want, i, due)
	}
	for _, due := range want {
		if got := q.pop(); got.due != due {
			t.Fatalf("popped %+v, want due %d", got, due)
		}
	}
	if len(q) != 0 {
		t.Errorf("%d left", len(q))
	}
}
