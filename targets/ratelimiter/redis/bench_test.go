package redis

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/redistest"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// callers per core: enough that they come together.
const callers = 64

func BenchmarkTake(b *testing.B) {
	contract := ratelimiter.Contract{Capacity: 1_000_000_000, RefillPerSecond: 1_000_000}
	store, err := Open(Options{Addr: redistest.Start(b), PoolSize: 20})
	must.Succeed(b, err)
	limiter, err := store.Limiter(Config{Strategy: ratelimiter.Lua, Contract: contract, Now: (&manual{}).Now})
	must.Succeed(b, err)
	b.ReportAllocs()
	b.SetParallelism(callers)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if d, err := limiter.Take(b.Context(), "client"); err != nil || !d.Allowed {
				b.Errorf("%+v, %v", d, err)
				return
			}
		}
	})
	b.StopTimer()
	if err := store.Close(); err != nil {
		b.Error(err)
	}
}
