package postgres

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestOpenRefusesOptions(t *testing.T) {
	tests := map[string]struct {
		change func(*Options)
		want   string
	}{
		"no address":   {func(o *Options) { o.Addr = "" }, `"" is no address of Postgres: use the form host:5432`},
		"no port":      {func(o *Options) { o.Addr = "host" }, `"host" is no address of Postgres: use the form host:5432`},
		"no host":      {func(o *Options) { o.Addr = ":5432" }, `":5432" is no address of Postgres: use the form host:5432`},
		"a named port": {func(o *Options) { o.Addr = "host:pg" }, `"host:pg" is no address of Postgres: its port is not 1 to 65535`},
		"port 0":       {func(o *Options) { o.Addr = "host:0" }, `"host:0" is no address of Postgres: its port is not 1 to 65535`},
		"no way":       {func(o *Options) { o.Connections = "" }, `"" is no way to hold connections: use one of unlimited, pool, pgbouncer`},
		"no pool":      {func(o *Options) { o.PoolSize = 0 }, "size of the pool of Postgres connections is 0: use 1 or more"},
		"shard 1 of 1": {func(o *Options) { o.Shard = 1 }, "shard is 1 of 1: use 0 to 0"},
		"shard -1":     {func(o *Options) { o.Shard, o.Shards = -1, 3 }, "shard is -1 of 3: use 0 to 2"},
		"no clock":     {func(o *Options) { o.Now = nil }, "store is incomplete: set Now"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := Options{Addr: "host:5432", Connections: Pool, PoolSize: 1, Now: time.Now}
			tt.change(&o)
			_, err := Open(o)
			same.As(t, "error", tt.want, fmt.Sprint(err))
		})
	}
}

// The environment, which psql listens to, has no say.
func TestConfigFollowsOptions(t *testing.T) {
	for name, value := range map[string]string{
		"PGHOST": "elsewhere", "PGPORT": "1", "PGUSER": "someone", "PGPASSWORD": "wrong", "PGDATABASE": "other",
		"PGAPPNAME": "psql", "PGOPTIONS": "-c statement_timeout=1",
	} {
		t.Setenv(name, value)
	}
	for _, connections := range AllConnections() {
		c, err := Options{
			Addr: "[::1]:5433", Database: "d", User: "u", Password: "p", Connections: connections, PoolSize: 1, Now: time.Now,
		}.config()
		must.Succeed(t, err)
		got := []any{c.Host, c.Port, c.Database, c.User, c.Password, len(c.RuntimeParams), len(c.Fallbacks)}
		same.As(t, string(connections)+": config", []any{"::1", uint16(5433), "d", "u", "p", 0, 0}, got)
		// A named statement outlives its transaction, and then its connection.
		if named := c.DefaultQueryExecMode != pgx.QueryExecModeExec; named == (connections == PgBouncer) {
			t.Errorf("%s: statements are prepared by name: %v", connections, named)
		}
	}
}
