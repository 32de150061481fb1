package redis

import (
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/redistest"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// callers per core: enough that they come together.
const callers = 32

func BenchmarkFind(b *testing.B) {
	codes := make([]string, 1000)
	finder := newLinks()
	cache := newCache(b, open(b, redistest.Start(b)), finder, nil)
	for i := range codes {
		codes[i] = fmt.Sprintf("%06d", i)
		must.Succeed(b, cache.Put(b.Context(), link(codes[i], time.Hour)))
	}
	b.ReportAllocs()
	b.SetParallelism(callers)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			if _, err := cache.Find(b.Context(), codes[i%len(codes)]); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.StopTimer()
	if got := finder.asks(); got != 0 {
		b.Errorf("store was asked %d times, want none", got)
	}
}

func BenchmarkClicked(b *testing.B) {
	client := open(b, redistest.Start(b))
	queue, err := NewQueue(client, QueueConfig{
		Wait: time.Hour, Count: func(shortener.Event, int) {}, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	must.Succeed(b, err)
	b.ReportAllocs()
	b.SetParallelism(callers)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			_ = queue.Clicked(b.Context(), shortener.NewClick("abc", start))
		}
	})
	b.StopTimer()
	if err := queue.Close(b.Context()); err != nil {
		b.Error(err)
	}
	if got := client.redis.XLen(b.Context(), Stream).Val(); got != int64(b.N) {
		b.Errorf("%d clicks are in the stream, want %d", got, b.N)
	}
}
