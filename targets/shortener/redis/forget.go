package redis

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed forget.lua
var forgetSource string

var forgetScript = redis.NewScript(forgetSource)

// forget removes consumers that died from the group, once all their entries are
// claimed (see abandoned). A live consumer that was only silent loses nothing: it
// has no entries, and joins again with its next command.
func (c *Consumer) forget(ctx context.Context) error {
	struck, err := c.strikeOff(ctx, c.config.ForgetAfter, "")
	if err != nil {
		return fmt.Errorf("strike off dead consumers: %w", err)
	}
	if struck > 0 {
		c.config.Log.Info("struck dead consumers off the group", "consumers", struck)
	}
	return nil
}

// leave strikes this consumer off the group, so that the names of replicas do
// not pile up there. With entries that it has not acknowledged it stays: they
// would be struck off with it, those among them that a read which broke off is given
// at this moment.
func (c *Consumer) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	if _, err := c.strikeOff(ctx, 0, c.config.Name); err != nil {
		c.config.Log.Warn("leave consumer group", "error", err)
	}
}

// strikeOff removes the consumer of that name, or with none all of them, if it was
// silent for so long and has no entries, and returns how many it has removed.
func (c *Consumer) strikeOff(ctx context.Context, silent time.Duration, name string) (int, error) {
	return forgetScript.Run(ctx, c.redis, []string{Stream}, Group, silent.Milliseconds(), name).Int()
}
