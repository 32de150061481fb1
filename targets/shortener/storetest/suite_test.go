package storetest

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/memory"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestMemory(t *testing.T) {
	Run(t, func(_ *testing.T, clock *Clock) shortener.Store { return memory.New(clock.Now) })
}

func TestShardsOfMemory(t *testing.T) {
	Run(t, func(t *testing.T, clock *Clock) shortener.Store {
		shards, err := shortener.NewShards(memory.New(clock.Now), memory.New(clock.Now), memory.New(clock.Now))
		must.Succeed(t, err)
		return shards
	})
}
