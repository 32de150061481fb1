package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strconv"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/check"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/serve"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter/breaker"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter/http"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter/prometheus"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter/redis"
)

// writeTimeout covers the decision as well.
const writeTimeout = 15 * time.Second

// version is set by the linker (-X main.version=...).
var version = "dev"

func main() {
	serve.TuneMemory(os.Getenv, 0)
	serve.Main("ratelimiter", func(ctx context.Context) error {
		return run(ctx, os.Args[1:], os.Getenv, time.Now, os.Stderr)
	})
}

// run serves until ctx ends, or checks a service that runs.
func run(ctx context.Context, args []string, getenv func(string) string, now func() time.Time, out io.Writer) (err error) {
	if len(args) > 0 && args[0] == "check" {
		return check.RateLimiter(ctx, args[1:], getenv, out)
	}
	c, err := parseConfig(args, getenv, out)
	if err != nil {
		return err
	}
	logger := slog.New(slog.NewJSONHandler(out, nil))
	store, err := redis.Open(c.redis)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	handler, err := newHandler(c, store, now, logger)
	if err != nil {
		return err
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", ":"+strconv.Itoa(c.port))
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	logger.Info("serving", "addr", ln.Addr().String(), "version", version, "strategy", c.strategy,
		"capacity", c.contract.Capacity, "refillPerSecond", c.contract.RefillPerSecond, "onStoreFailure", c.onStoreFailure,
		"redis", c.redis.Addr, "trustedProxies", fmt.Sprint(c.trustedProxies))
	return serve.Serve(ctx, ln, serve.Options{
		Handler: handler, Drain: handler.Drain, Delay: c.shutdownDelay, WriteTimeout: writeTimeout, Logger: logger,
	})
}

func newHandler(c config, store *redis.Store, now func() time.Time, logger *slog.Logger) (*http.Handler, error) {
	guard, err := breaker.New(func(asking bool) {
		logger.Warn("store failure", "asking", asking, "policy", c.onStoreFailure)
	})
	if err != nil {
		return nil, err
	}
	limiter, err := store.Limiter(redis.Config{
		Strategy: c.strategy, Contract: c.contract, Now: now, MaxRetries: c.maxRetries, Guard: guard.Ask,
	})
	if err != nil {
		return nil, err
	}
	registry := prom.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	metrics, err := prometheus.New(registry, c.strategy)
	if err != nil {
		return nil, err
	}
	return http.NewHandler(http.Config{
		Limiter: limiter,
		About: http.About{
			Version: version, Strategy: c.strategy,
			Capacity: c.contract.Capacity, RefillPerSecond: c.contract.RefillPerSecond,
			MaxRetries: c.maxRetries, OnStoreFailure: c.onStoreFailure,
			InstanceID: serve.InstanceID(),
		},
		TrustedProxies: c.trustedProxies,
		Ready:          store.Ping,
		StorePause:     breaker.Pause,
		Observe:        metrics.Observe,
		Metrics:        prometheus.Handler(registry),
		Now:            now,
		Logger:         logger,
	})
}
