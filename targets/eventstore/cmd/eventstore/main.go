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

	eventstorev1 "github.com/loadtest-dev/loadtest-operator/targets/eventstore/grpc/v1"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/check"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/rpc"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/serve"
)

// writeTimeout covers what is done for a reply as well, at most 30 s. Replies
// of many events have a time limit for each part of them instead.
const writeTimeout = 45 * time.Second

// version is set by the linker (-X main.version=...).
var version = "dev"

func main() {
	serve.Main("eventstore", func(ctx context.Context) error {
		return run(ctx, os.Args[1:], os.Getenv, time.Now, os.Stderr)
	})
}

// run serves until ctx ends, then stores the accepted requests; or it checks a
// service that runs, or writes the descriptors of its gRPC.
func run(ctx context.Context, args []string, getenv func(string) string, now func() time.Time, out io.Writer) (err error) {
	if len(args) > 0 && args[0] == "check" {
		return check.EventStore(ctx, args[1:], getenv, out)
	}
	if len(args) == 1 && args[0] == "descriptors" {
		return rpc.WriteDescriptors(os.Stdout, eventstorev1.File_eventstore_grpc_v1_eventstore_proto)
	}
	c, err := parseConfig(args, getenv, out)
	if err != nil {
		return err
	}
	logger := slog.New(slog.NewJSONHandler(out, nil))
	service, err := newService(c, now, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.logs.Close()) }()
	serve.TuneMemory(getenv, service.pageMemory)
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", ":"+strconv.Itoa(c.port))
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	beside, err := serve.ListenBeside(ctx, c.grpcAddress, service.grpc)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	about := service.handler.About
	logger.Info("serving", "addr", ln.Addr().String(), "grpc", beside.Address(), "version", version, "dataDir", c.dataDir,
		"synchronous", about.Synchronous, "groupCommit", about.GroupCommit, "readers", about.Readers,
		"tenants", about.Tenants, "authentication", about.Authentication, "rateLimit", about.RateLimit,
		"trustedProxies", fmt.Sprint(c.trustedProxies))
	return serve.Serve(ctx, ln, serve.Options{
		Handler: delayed(service.handler, c.delay), Drain: func() { service.handler.Drain(); service.grpc.Drain() },
		Delay: c.shutdownDelay, WriteTimeout: writeTimeout, Beside: beside, Logger: logger,
	})
}
