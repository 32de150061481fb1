package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// dialTimeout bounds a connection attempt; within a cluster one takes
// milliseconds.
const dialTimeout = time.Second

// Options say how Redis is reached.
type Options struct {
	// Addr is host:port, or the path of a Unix socket.
	Addr     string
	Password string
	DB       int
	PoolSize int
}

// Client is a pool of connections to one Redis.
type Client struct {
	redis *redis.Client
}

// Open returns a client; it connects when it is first used.
func Open(o Options) (*Client, error) {
	var errs []error
	if o.Addr == "" {
		errs = append(errs, errors.New("redis address is empty: use host:port"))
	}
	if o.DB < 0 {
		errs = append(errs, fmt.Errorf("redis database is %d: use 0 or more", o.DB))
	}
	if o.PoolSize < 1 {
		errs = append(errs, fmt.Errorf("redis pool size is %d: use 1 or more", o.PoolSize))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &Client{redis: redis.NewClient(&redis.Options{
		Addr:        o.Addr,
		Password:    o.Password,
		DB:          o.DB,
		PoolSize:    o.PoolSize,
		DialTimeout: dialTimeout,
		// The cache asks the store instead, and the queue tries again itself.
		MaxRetries:            -1,
		ContextTimeoutEnabled: true,
		DisableIdentity:       true,
	})}, nil
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
