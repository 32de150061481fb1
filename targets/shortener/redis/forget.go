package redis

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/redis/go-redis/v9"
)

//go:embed forget.lua
var forgetSource string

var forgetScript = redis.NewScript(forgetSource)

// forget removes consumers that died from the group, once all their entries are
// claimed (see abandoned). A live consumer that was only silent loses nothing: it
// has no entries, and joins again with its next command.
func (c *Consumer) forget(ctx context.Context) error {
	struck, err := forgetScript.Run(ctx, c.redis, []string{Stream}, Group, c.config.ForgetAfter.Milliseconds()).Int()
	if err != nil {
		return fmt.Errorf("strike off dead consumers: %w", err)
	}
	if struck > 0 {
		c.config.Log.Info("struck dead consumers off the group", "consumers", struck)
	}
	return nil
}
