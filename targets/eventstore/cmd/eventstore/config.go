package main

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
	"github.com/loadtest-dev/loadtest-operator/targets/eventstore/sqlite"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/settings"
)

const usage = `eventstore keeps a log of events in a file, and answers for it over HTTP and,
with --grpc-address, over gRPC: on a port of its own and without TLS (h2c), with
reflection and the health service. eventstore descriptors writes the descriptor
set of that API, for clients that do not ask by reflection.

An append is answered when it is on the disk. Appends that wait at the same
time share one sync to the disk (--group-commit), so that many clients together
are much faster than one. A client that does not know whether its append was
stored repeats it with the same Idempotency-Key, which stores nothing twice.

Try it:

  eventstore --data-dir /tmp &
  curl localhost:8080/events -H 'Idempotency-Key: 1' \
       -d '{"type":"order.created","data":{"total":5}}'
  curl localhost:8080/events?from=1
  curl localhost:8080/position

Ask a service that runs whether it does what it should:

  eventstore check --url=http://localhost:8080

With --tenants-file each tenant has a log and a key of its own:

  tenants:
    - {name: shop, apiKey: s3cr3t}

Each flag can be given as the environment variable beside it; the flag wins.
The key of a service without tenants is read from API_KEY only, since a command
line is there for all to see.

`

// config is what the command line and the environment say.
type config struct {
	port           int
	grpcAddress    string
	dataDir        string
	apiKey         string
	tenantsFile    string
	sqlite         sqlite.Options
	openLogs       int
	memoryLimit    string
	limited        bool
	limitPerSecond float64
	limitBurst     int
	gzip           bool
	trustedProxies []netip.Prefix
	delay          time.Duration
	shutdownDelay  time.Duration
}

// parseConfig reads the flags, and the environment where there is no flag. Help
// is written to out, and returned as flag.ErrHelp.
func parseConfig(args []string, getenv func(string) string, out io.Writer) (config, error) {
	c := config{sqlite: sqlite.Options{KeyWindow: sqlite.DefaultKeyWindow}}
	set := settings.New("eventstore", usage, getenv)
	set.Int(&c.port, "port", "PORT", "8080", "`port` to listen on; 0 takes a free one")
	set.String(&c.grpcAddress, "grpc-address", "GRPC_ADDRESS", "", "`host:port` to serve gRPC on, such as :9090; none: HTTP only")
	set.String(&c.dataDir, "data-dir", "DATA_DIR", "/data", "`folder` of the logs: events.db, or a tenant's name with .db")
	set.String(&c.tenantsFile, "tenants-file", "TENANTS_FILE", "", "YAML `file` of tenants and their keys; none: one log, with API_KEY or open to all")
	settings.Value(set, &c.sqlite.Synchronous, "synchronous", "SYNCHRONOUS", string(sqlite.Full),
		"`full`: each commit is synced to the disk; normal: some may be lost with the power", sqlite.ParseSynchronous)
	set.Bool(&c.sqlite.GroupCommit, "group-commit", "GROUP_COMMIT", "on", "`on|off`: appends that wait together share a transaction")
	set.Int(&c.sqlite.Readers, "readers", "READERS", "4", "`number` of connections that read, per log")
	set.String(&c.memoryLimit, "memory-limit", "MEMORY_LIMIT", "", "`size` of the container's memory, which /version names, such as 1Gi")
	set.Int(&c.openLogs, "open-logs", "OPEN_LOGS", strconv.Itoa(sqlite.DefaultMostOpen),
		"`number` of tenants' logs that are open at a time, each of which may take 37 MB for pages with 4 readers, and 80 MB for idempotency keys; the one that was not used for longest is closed when another is asked for")
	settings.Value(set, &c.sqlite.KeyWindow, "idempotency-window", "IDEMPOTENCY_WINDOW", fmt.Sprint(sqlite.DefaultKeyWindow),
		"`number` of further events that an idempotency key outlives", settings.Whole)
	set.Bool(&c.limited, "rate-limit", "RATE_LIMIT", "off", "`on|off`: limit how often each client may ask")
	settings.Value(set, &c.limitPerSecond, "rate-limit-per-second", "RATE_LIMIT_PER_SECOND", "100", "requests per `second` of a client", settings.Number)
	set.Int(&c.limitBurst, "rate-limit-burst", "RATE_LIMIT_BURST", "200", "`number` of requests that an idle client may send at once")
	set.Bool(&c.gzip, "enable-gzip", "ENABLE_GZIP", "on", "`on|off`: compress events for clients that accept it")
	settings.Value(set, &c.trustedProxies, "trusted-proxies", "TRUSTED_PROXIES", "", "comma-separated `networks` whose X-Forwarded-For names the client; none: the peer is the client",
		settings.Networks)
	set.Duration(&c.delay, "delay", "DELAY", "0s", "`time` that each request over HTTP waits before it is handled, as over a long way to the client, but for /health, /ready and /metrics; at most 10s, and in no metric")
	set.Duration(&c.shutdownDelay, "shutdown-delay", "SHUTDOWN_DELAY", "0s", "`time` to serve on after SIGTERM, until no new clients are sent here")
	if err := set.Parse(args, out); err != nil {
		return config{}, err
	}
	c.apiKey = getenv("API_KEY")
	return c, c.validate()
}

func (c config) validate() error {
	var errs []error
	if c.port < 0 || c.port > 65535 {
		errs = append(errs, fmt.Errorf("--port (PORT) is %d: use 0 to 65535", c.port))
	}
	if c.sqlite.Readers < 1 || c.sqlite.Readers > 64 {
		errs = append(errs, fmt.Errorf("--readers (READERS) is %d: use 1 to 64", c.sqlite.Readers))
	}
	if c.openLogs < 1 || c.openLogs > eventstore.MaxTenants {
		errs = append(errs, fmt.Errorf("--open-logs (OPEN_LOGS) is %d: use 1 to %d", c.openLogs, eventstore.MaxTenants))
	}
	if c.sqlite.KeyWindow < 1 {
		errs = append(errs, fmt.Errorf("--idempotency-window (IDEMPOTENCY_WINDOW) is %d: use 1 or more", c.sqlite.KeyWindow))
	}
	if c.apiKey != "" && c.tenantsFile != "" {
		errs = append(errs, errors.New("API_KEY and --tenants-file (TENANTS_FILE) are both given: use API_KEY for one log, or the file for several"))
	}
	if c.delay < 0 || c.delay > mostDelay {
		errs = append(errs, fmt.Errorf("--delay (DELAY) is %v: use 0s to %v", c.delay, mostDelay))
	}
	if c.shutdownDelay < 0 {
		errs = append(errs, fmt.Errorf("--shutdown-delay (SHUTDOWN_DELAY) is %v: use 0s or more", c.shutdownDelay))
	}
	return errors.Join(errs...)
}
