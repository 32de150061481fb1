package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Connections names a way to hold connections.
type Connections string

const (
	// Unlimited opens a connection for each request in flight, without bound, and
	// keeps two that are idle: the defaults of database/sql. Postgres refuses those
	// beyond its max_connections, and forks a process for each of the others.
	Unlimited Connections = "unlimited"
	// Pool opens as many as the pool holds, keeps a quarter of them idle, and
	// makes requests wait for one.
	Pool Connections = "pool"
	// PgBouncer opens a connection to a PgBouncer for each request in flight,
	// without bound: the pool, and the wait for it, are PgBouncer's. As many as
	// a pool would hold are kept idle.
	PgBouncer Connections = "pgbouncer"
)

// AllConnections returns every way.
func AllConnections() []Connections { return []Connections{Unlimited, Pool, PgBouncer} }

// ParseConnections returns the way of that name.
func ParseConnections(name string) (Connections, error) {
	if c := Connections(name); slices.Contains(AllConnections(), c) {
		return c, nil
	}
	var names []string
	for _, c := range AllConnections() {
		names = append(names, string(c))
	}
	return "", fmt.Errorf("%q is no way to hold connections: use one of %s", name, strings.Join(names, ", "))
}

const (
	// dialTimeout bounds how long a request waits to find out that a server is
	// not there. A server whose queue is full is asked again after a second.
	dialTimeout = 2 * time.Second
	// queryTimeout bounds a request to the store, the wait for a connection
	// included.
	queryTimeout = 5 * time.Second
	// connLifetime and connIdleTime are the original's settings of a pool.
	connLifetime = 5 * time.Minute
	connIdleTime = time.Minute
)

// Options say where the database is and how to use it.
type Options struct {
	// Addr is host:port of Postgres or PgBouncer.
	Addr        string
	Database    string
	User        string
	Password    string
	Connections Connections
	// PoolSize is the number of connections of a pool.
	PoolSize int
	// Shard is the place of the database among Shards databases, from 0 on. 0 of
	// Shards is 1: the database is the only one.
	Shard, Shards int
	// LinkIndex keeps an index on (short_code, expires_at), beside the unique
	// one on short_code.
	LinkIndex bool
	// Now is the clock by which links expire.
	Now func() time.Time
}

// config returns pgx's configuration.
func (o Options) config() (*pgx.ConnConfig, error) {
	host, port, err := splitAddr(o.Addr)
	if err != nil {
		return nil, err
	}
	if _, err := ParseConnections(string(o.Connections)); err != nil {
		return nil, err
	}
	if o.PoolSize < 1 {
		return nil, fmt.Errorf("size of the pool of Postgres connections is %d: use 1 or more", o.PoolSize)
	}
	if shards := max(1, o.Shards); o.Shard < 0 || o.Shard >= shards {
		return nil, fmt.Errorf("shard is %d of %d: use 0 to %d", o.Shard, shards, shards-1)
	}
	if o.Now == nil {
		return nil, errors.New("store is incomplete: set Now")
	}
	// Everything is said here, so that no PG... variable has a say.
	config, err := pgx.ParseConfig("sslmode=disable")
	if err != nil {
		return nil, fmt.Errorf("configure pgx: %w", err)
	}
	config.Host, config.Port = host, port
	config.Database, config.User, config.Password = o.Database, o.User, o.Password
	config.Fallbacks, config.RuntimeParams = nil, map[string]string{}
	config.ConnectTimeout = queryTimeout
	config.DialFunc = (&gate{dial: (&net.Dialer{Timeout: dialTimeout}).DialContext, now: time.Now}).dialContext
	if o.Connections == PgBouncer {
		// A statement prepared by name is left behind on a server connection
		// that the next transaction may not get.
		config.DefaultQueryExecMode = pgx.QueryExecModeExec
		config.StatementCacheCapacity, config.DescriptionCacheCapacity = 0, 0
	}
	return config, nil
}

// ValidateAddr reports why a server cannot be reached under addr.
func ValidateAddr(addr string) error {
	_, _, err := splitAddr(addr)
	return err
}

func splitAddr(addr string) (host string, port uint16, err error) {
	host, number, err := net.SplitHostPort(addr)
	if err != nil || host == "" {
		return "", 0, fmt.Errorf("%q is no address of Postgres: use the form host:5432", addr)
	}
	n, err := strconv.ParseUint(number, 10, 16)
	if err != nil || n == 0 {
		return "", 0, fmt.Errorf("%q is no address of Postgres: its port is not 1 to 65535", addr)
	}
	return host, uint16(n), nil
}

// dialFunc opens a connection.
type dialFunc func(ctx context.Context, network, addr string) (net.Conn, error)
