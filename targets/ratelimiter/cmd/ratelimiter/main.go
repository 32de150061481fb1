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
	"github.com/loadtest-dev/loadtest-operator/targets/internal/rpc"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/serve"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter/breaker"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter/grpc"
	ratelimiterv1 "github.com/loadtest-dev/loadtest-operator/targets/ratelimiter/grpc/v1"
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

// run serves until ctx ends, or checks a service that runs, or writes the
// descriptors of its gRPC.
func run(ctx context.Context, args []string, getenv func(string) string, now func() time.Time, out io.Writer) (err error) {
	if len(args) > 0 && args[0] == "check" {
		return check.RateLimiter(ctx, args[1:], getenv, out)
	}
	if len(args) == 1 && args[0] == "descriptors" {
		return rpc.WriteDescriptors(os.Stdout, ratelimiterv1.File_ratelimiter_grpc_v1_ratelimiter_proto)
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
	handler, server, err := newServers(c, store, now, logger)
	if err != nil {
		return err
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", ":"+strconv.Itoa(c.port))
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	beside, err := serve.ListenBeside(ctx, c.grpcAddress, server)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	logger.Info("serving", "addr", ln.Addr().String(), "grpc", beside.Address(), "version", version, "strategy", c.strategy,
		"capacity", c.contract.Capacity, "refillPerSecond", c.contract.RefillPerSecond, "onStoreFailure", c.onStoreFailure,
		"redis", c.redis.Addr, "trustedProxies", fmt.Sprint(c.trustedProxies))
	return serve.Serve(ctx, ln, serve.Options{
		Handler: handler, Drain: func() { handler.Drain(); server.Drain() },
		Delay: c.shutdownDelay, WriteTimeout: writeTimeout, Beside: beside, Logger: logger,
	})
}

// newServers returns what answers HTTP and what answers gRPC, by one service.
func newServers(c config, store *redis.Store, now func() time.Time, logger *slog.Logger) (*http.Handler, rpc.Server, error) {
	guard, err := breaker.New(func(asking bool) {
		logger.Warn("store failure", "asking", asking, "policy", c.onStoreFailure)
	})
	if err != nil {
		return nil, rpc.Server{}, err
	}
	limiter, err := store.Limiter(redis.Config{
		Strategy: c.strategy, Contract: c.contract, Now: now, MaxRetries: c.maxRetries, Guard: guard.Ask,
	})
	if err != nil {
		return nil, rpc.Server{}, err
	}
	registry := prom.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	metrics, err := prometheus.New(registry, c.strategy)
	if err != nil {
		return nil, rpc.Server{}, err
	}
	service := ratelimiter.Service{
		Limiter: limiter, Contract: c.contract, OnStoreFailure: c.onStoreFailure, StorePause: breaker.Pause,
		Observe: metrics.Observe, Now: now, Logger: logger,
	}
	instance := serve.InstanceID()
	handler, err := http.NewHandler(http.Config{
		Service: service,
		About: http.About{
			Version: version, Strategy: c.strategy,
			Capacity: c.contract.Capacity, RefillPerSecond: c.contract.RefillPerSecond,
			MaxRetries: c.maxRetries, OnStoreFailure: c.onStoreFailure,
			InstanceID: instance,
		},
		TrustedProxies: c.trustedProxies,
		Ping:           store.Ping,
		Metrics:        prometheus.Handler(registry),
	})
	if err != nil {
		return nil, rpc.Server{}, err
	}
	server, err := grpc.NewServer(grpc.Config{
		Service: service, InstanceID: instance, TrustedProxies: c.trustedProxies, Ready: handler.IsReady,
	})
	return handler, server, err
}
