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

	"github.com/loadtest-dev/loadtest-operator/targets/internal/check"
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
// service that runs.
func run(ctx context.Context, args []string, getenv func(string) string, now func() time.Time, out io.Writer) (err error) {
	if len(args) > 0 && args[0] == "check" {
		return check.EventStore(ctx, args[1:], getenv, out)
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
	about := service.handler.About
	logger.Info("serving", "addr", ln.Addr().String(), "version", version, "dataDir", c.dataDir,
		"synchronous", about.Synchronous, "groupCommit", about.GroupCommit, "readers", about.Readers,
		"tenants", about.Tenants, "authentication", about.Authentication, "rateLimit", about.RateLimit,
		"trustedProxies", fmt.Sprint(c.trustedProxies))
	return serve.Serve(ctx, ln, serve.Options{
		Handler: service.handler, Drain: service.handler.Drain, Delay: c.shutdownDelay, WriteTimeout: writeTimeout, Logger: logger,
	})
}
