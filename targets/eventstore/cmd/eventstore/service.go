package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
	"github.com/loadtest-dev/loadtest-operator/targets/eventstore/grpc"
	"github.com/loadtest-dev/loadtest-operator/targets/eventstore/http"
	"github.com/loadtest-dev/loadtest-operator/targets/eventstore/prometheus"
	"github.com/loadtest-dev/loadtest-operator/targets/eventstore/sqlite"
	"github.com/loadtest-dev/loadtest-operator/targets/eventstore/yaml"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/rpc"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/serve"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/throttle"
)

// service is what answers, over either protocol, and what it answers from.
type service struct {
	handler *http.Handler
	grpc    rpc.Server
	logs    *sqlite.Databases
	// pageMemory bounds the memory of all logs that is outside of Go's heap.
	pageMemory int64
}

func newService(c config, now func() time.Time, logger *slog.Logger) (service, error) {
	access, err := newAccess(c)
	if err != nil {
		return service{}, err
	}
	limit, err := newLimit(c, now)
	if err != nil {
		return service{}, err
	}
	var logs *sqlite.Databases
	registry := prom.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	// The metrics observe the logs, and read the length of their queues.
	metrics, err := prometheus.New(registry, func() int { return logs.Waiting() })
	if err != nil {
		return service{}, err
	}
	c.sqlite.Observe = metrics.Commit
	if logs, err = sqlite.NewDatabases(c.dataDir, c.sqlite, c.openLogs); err != nil {
		return service{}, err
	}
	gate := eventstore.Gate{Access: access, Limit: limit, Stores: logs.Store, Bodies: &eventstore.Budget{}}
	handler, err := http.NewHandler(http.Config{
		Gate: gate, Open: logs.Open, About: about(c, access), TrustedProxies: c.trustedProxies, Gzip: c.gzip,
		Observe: metrics.Request, Metrics: prometheus.Handler(registry), Now: now, Logger: logger,
	})
	var server rpc.Server
	if err == nil {
		server, err = grpc.NewServer(grpc.Config{
			Gate: gate, TrustedProxies: c.trustedProxies, Ready: handler.IsReady,
			Observe: metrics.Request, Now: now, Logger: logger,
		})
	}
	if err == nil && !access.Multi {
		// A folder that cannot be written to is reported at the start.
		_, err = logs.Store(context.Background(), eventstore.SingleLog)
	}
	if err != nil {
		return service{}, errors.Join(err, logs.Close())
	}
	return service{handler, server, logs, c.sqlite.PageMemory() * int64(mostOpen(c, access))}, nil
}

func newAccess(c config) (eventstore.Access, error) {
	switch {
	case c.tenantsFile != "":
		tenants, err := yaml.ReadTenants(c.tenantsFile)
		return eventstore.Access{Tenants: tenants, Multi: true}, err
	case c.apiKey != "":
		tenants, err := eventstore.NewTenants([]eventstore.Tenant{{Name: eventstore.SingleLog, APIKey: c.apiKey}})
		return eventstore.Access{Tenants: tenants}, err
	}
	return eventstore.Access{}, nil
}

func newLimit(c config, now func() time.Time) (func(string) (bool, time.Duration), error) {
	if !c.limited {
		return nil, nil
	}
	t, err := throttle.New(throttle.Config{PerSecond: c.limitPerSecond, Burst: c.limitBurst, Now: now})
	if err != nil {
		return nil, fmt.Errorf("--rate-limit (RATE_LIMIT): %w", err)
	}
	return t.Allow, nil
}

// mostOpen is how many logs can be open at a time.
func mostOpen(c config, access eventstore.Access) int {
	if !access.Multi {
		return 1
	}
	return min(c.openLogs, access.Tenants.Len())
}

func about(c config, access eventstore.Access) http.About {
	a := http.About{
		Version: version, InstanceID: serve.InstanceID(),
		Synchronous: string(c.sqlite.Synchronous), GroupCommit: c.sqlite.GroupCommit, Readers: c.sqlite.Readers, MemoryLimit: c.memoryLimit,
		Authentication: access.Tenants.Len() > 0, IdempotencyWindow: c.sqlite.KeyWindow,
		Gzip: c.gzip, Delay: c.delay.String(), RateLimit: c.limited,
	}
	if access.Multi {
		a.Tenants, a.OpenLogs = access.Tenants.Len(), mostOpen(c, access)
	}
	if c.limited {
		a.RateLimitPerSecond, a.RateLimitBurst = c.limitPerSecond, c.limitBurst
	}
	return a
}
