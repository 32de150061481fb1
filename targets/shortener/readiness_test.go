package shortener_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// aids are those of a service with a cache and a queue, some of them down.
func aids(down ...string) shortener.Aids {
	all := shortener.Aids{}
	for _, name := range []string{"redis", "kafka"} {
		all[name] = func(context.Context) error { return nil }
	}
	for _, name := range down {
		all[name] = func(context.Context) error { return errGone }
	}
	return all
}

// wantPing expects an error with a text, or "<nil>", with the names of the failed
// parts if others answer, and the wrapped reason.
func wantPing(t *testing.T, err error, want string, degraded []string) {
	t.Helper()
	same.As(t, "Ping()", want, fmt.Sprint(err))
	var down []string
	if d, ok := errors.AsType[*shortener.Degraded](err); ok {
		down = d.Down
	}
	same.As(t, "down", degraded, down)
	if err != nil && !errors.Is(err, errGone) {
		t.Errorf("Ping() = %v, which does not wrap the reason", err)
	}
}

func TestPing(t *testing.T) {
	tests := map[string]struct {
		shards []int // that are down
		aids   shortener.Aids
		down   []string // nil: none, or everything
		want   string
	}{
		"all answer":                 {aids: aids(), want: "<nil>"},
		"there is no aid":            {want: "<nil>"},
		"an aid is down":             {aids: aids("redis"), down: []string{"redis"}, want: "redis unreachable: redis: gone"},
		"all aids are down":          {aids: aids("redis", "kafka"), down: []string{"kafka", "redis"}, want: "kafka, redis unreachable: kafka: gone\nredis: gone"},
		"a shard is down":            {shards: []int{1}, aids: aids(), down: []string{"shard1"}, want: "shard1 unreachable: shard1: gone"},
		"a shard and an aid":         {shards: []int{1}, aids: aids("kafka"), down: []string{"shard1", "kafka"}, want: "shard1, kafka unreachable: shard1: gone\nkafka: gone"},
		"no shard answers":           {shards: []int{0, 1, 2}, aids: aids(), want: "shard0: gone\nshard1: gone\nshard2: gone"},
		"neither a shard nor an aid": {shards: []int{0, 1, 2}, aids: aids("redis"), want: "shard0: gone\nshard1: gone\nshard2: gone"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			shards, stores := three(t)
			for _, i := range tt.shards {
				stores[i].SetFailure(errGone)
			}
			err := newService(t, func(c *shortener.Config) { c.Store, c.Aids = shards, tt.aids }).Ping(t.Context())
			wantPing(t, err, tt.want, tt.down)
		})
	}
}
