package redisconn

import (
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// Options say how Redis is reached.
type Options struct {
	// Addr is host:port, or the path of a Unix socket.
	Addr     string
	Password string
	DB       int
	// PoolSize is how many connections there are at most.
	PoolSize int
}

// Config is that of a client which sends each command at most once and heeds the
// deadlines of its callers. Its timeouts are the library's. The error names every
// option that is wrong.
func (o Options) Config() (*redis.Options, error) {
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
	return &redis.Options{
		Addr:                  o.Addr,
		Password:              o.Password,
		DB:                    o.DB,
		PoolSize:              o.PoolSize,
		MaxRetries:            -1,
		ContextTimeoutEnabled: true,
		DisableIdentity:       true,
	}, nil
}
