package instant_test

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/instant"
)

func TestOfTwoInstants(t *testing.T) {
	first := time.Unix(1_000, 0)
	second := first.Add(1)
	for _, pair := range [][2]time.Time{{first, second}, {second, first}} {
		if got := instant.Earlier(pair[0], pair[1]); got != first {
			t.Errorf("the earlier of %v is %v", pair, got)
		}
		if got := instant.Later(pair[0], pair[1]); got != second {
			t.Errorf("the later of %v is %v", pair, got)
		}
	}
}
