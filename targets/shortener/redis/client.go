package redis

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/redisconn"
)

// dialTimeout bounds a connection attempt; within a cluster one takes
// milliseconds.
const dialTimeout = time.Second

// Options say how Redis is reached.
type Options = redisconn.Options

// Client is a pool of connections to one Redis.
type Client struct {
	redis *redis.Client
}

// Open returns a client; it connects when it is first used.
func Open(o Options) (*Client, error) {
	config, err := o.Config()
	if err != nil {
		return nil, err
	}
	config.DialTimeout = dialTimeout
	// No command is sent again: the cache asks the store instead, and the queue
	// tries again itself.
	return &Client{redis: redis.NewClient(config)}, nil
}

// Ping reports whether Redis answers.
func (c *Client) Ping(ctx context.Context) error {
	if err := c.redis.Ping(ctx).Err(); err != nil {
		return fmt.Errorf("ping redis: %w", err)
	}
	return nil
}

// Close closes every connection.
func (c *Client) Close() error {
	if err := c.redis.Close(); err != nil {
		return fmt.Errorf("close redis: %w", err)
	}
	return nil
}
