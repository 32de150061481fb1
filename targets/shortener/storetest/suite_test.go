package storetest

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
)

func TestMemory(t *testing.T) {
	Run(t, func(_ *testing.T, clock *Clock) shortener.Store { return NewMemory(clock.Now) })
}

func TestShardsOfMemory(t *testing.T) {
	Run(t, func(t *testing.T, clock *Clock) shortener.Store {
		shards, err := shortener.NewShards(NewMemory(clock.Now), NewMemory(clock.Now), NewMemory(clock.Now))
		if err != nil {
			t.Fatal(err)
		}
		return shards
	})
}
