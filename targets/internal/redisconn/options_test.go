package redisconn

import (
	"fmt"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestConfigRefuses(t *testing.T) {
	tests := map[string]struct {
		options Options
		want    string
	}{
		"no address":        {Options{PoolSize: 1}, "redis address is empty: use host:port"},
		"negative database": {Options{Addr: "redis:6379", DB: -1, PoolSize: 1}, "redis database is -1: use 0 or more"},
		"no pool":           {Options{Addr: "redis:6379"}, "redis pool size is 0: use 1 or more"},
		"all of it": {
			Options{DB: -2, PoolSize: -3},
			"redis address is empty: use host:port\nredis database is -2: use 0 or more\nredis pool size is -3: use 1 or more",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := tt.options.Config()
			same.As(t, "error", tt.want, fmt.Sprint(err))
		})
	}
}

// A command that is sent again by the library may be carried out twice.
func TestConfigSendsOnce(t *testing.T) {
	got, err := Options{Addr: "/run/redis.sock", Password: "secret", DB: 3, PoolSize: 7}.Config()
	must.Succeed(t, err)
	if got.Addr != "/run/redis.sock" || got.Password != "secret" || got.DB != 3 || got.PoolSize != 7 {
		t.Errorf("config %+v loses an option", got)
	}
	if got.MaxRetries != -1 || !got.ContextTimeoutEnabled {
		t.Errorf("%d retries, heeds deadlines %v; want none (-1), and true", got.MaxRetries, got.ContextTimeoutEnabled)
	}
}
