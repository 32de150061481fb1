package sqlite

import (
	"fmt"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
	"github.com/loadtest-dev/loadtest-operator/targets/eventstore/storetest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// BenchmarkTakeTurns measures a request for which another log must be closed:
// tenants send requests in turn, and only one log may be open.
func BenchmarkTakeTurns(b *testing.B) {
	for _, most := range []int{2, 1} {
		b.Run(fmt.Sprintf("open=%d", most), func(b *testing.B) {
			d, err := NewDatabases(b.TempDir(), Options{Synchronous: Full, GroupCommit: true, Readers: 4}, most)
			must.Succeed(b, err)
			for i := 0; b.Loop(); i++ {
				s, err := d.Store(b.Context(), fmt.Sprint("tenant", i%2))
				must.Succeed(b, err)
				a, err := eventstore.NewAppend([]eventstore.Event{{Type: "a", Data: benchData}}, eventstore.Terms{}, storetest.AppendTime)
				must.Succeed(b, err)
				if _, err := s.Append(b.Context(), a); err != nil {
					b.Fatal(err)
				}
			}
			must.Succeed(b, d.Close())
		})
	}
}
