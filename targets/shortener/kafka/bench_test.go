package kafka

import (
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/kafkatest"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

// callers per core: enough that they come together.
const callers = 32

func BenchmarkClicked(b *testing.B) {
	config := configure(b, kafkatest.Shared(b))
	config.Log = quiet()
	p := newProducer(b, ProducerConfig{Config: config, Wait: time.Hour, Count: ignore})
	_ = p.Clicked(b.Context(), shortener.NewClick("abc", someClick.At)) // finds the topic
	b.ReportAllocs()
	b.SetParallelism(callers)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			_ = p.Clicked(b.Context(), shortener.NewClick("abc", someClick.At))
		}
	})
	b.StopTimer()
	if err := p.Close(b.Context()); err != nil {
		b.Error(err)
	}
}
