package kafka

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/clickstest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// A click that the client gives up while it is being rescued is lost only if that
// fails, too, and then once.
func TestUnrescuedClickIsCountedLost(t *testing.T) {
	tests := map[string]struct {
		rescue error
		want   map[shortener.Event]int
	}{
		"rescued": {nil, map[shortener.Event]int{shortener.ClickQueued: 1, shortener.ClickStored: 1}},
		"neither": {errors.New("down"), map[shortener.Event]int{shortener.ClickQueued: 1, shortener.ClickLost: 1}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var p *Producer
			counts := map[shortener.Event]int{}
			count := func(e shortener.Event, n int) {
				if n > 0 {
					counts[e] += n
				}
			}
			rescue := clickstest.StoreFunc(func(context.Context, []shortener.Click) (int, error) {
				over, cancel := context.WithCancel(t.Context())
				cancel()
				if err := p.Close(over); err != nil { // gives the record up
					t.Error(err)
				}
				if tc.rescue != nil {
					return 0, tc.rescue
				}
				return 1, nil
			})
			config := Config{Brokers: []string{"127.0.0.1:1"}, Topic: "clicks", Log: quiet()}
			p = newProducer(t, ProducerConfig{Config: config, Wait: time.Millisecond, Rescue: rescue, Count: count})
			must.Succeed(t, p.Clicked(t.Context(), shortener.NewClick("code", time.Unix(0, 0))))
			same.As(t, "events", tc.want, counts)
		})
	}
}
