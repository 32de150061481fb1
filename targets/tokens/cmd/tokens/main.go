package main

import (
	"context"
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
	"github.com/loadtest-dev/loadtest-operator/targets/tokens"
	"github.com/loadtest-dev/loadtest-operator/targets/tokens/http"
	"github.com/loadtest-dev/loadtest-operator/targets/tokens/prometheus"
)

// version is set by the linker (-X main.version=...).
var version = "dev"

func main() {
	serve.TuneMemory(os.Getenv, 0)
	serve.Main("tokens", func(ctx context.Context) error {
		return run(ctx, os.Args[1:], os.Getenv, os.Stderr)
	})
}

// run serves until ctx ends, or checks a service that runs.
func run(ctx context.Context, args []string, getenv func(string) string, out io.Writer) error {
	if len(args) > 0 && args[0] == "check" {
		return check.Tokens(ctx, args[1:], getenv, out)
	}
	c, err := parseConfig(args, getenv, out)
	if err != nil {
		return err
	}
	logger := slog.New(slog.NewJSONHandler(out, nil))
	handler, err := newHandler(c)
	if err != nil {
		return err
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", ":"+strconv.Itoa(c.port))
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	logger.Info("serving", "addr", ln.Addr().String(), "version", version, "slots", c.parameters.Slots, "queue", c.parameters.Queue,
		"context", c.parameters.Context, "perPromptToken", c.parameters.PerPromptToken.String(), "step", c.parameters.Step.String(),
		"perSequence", c.parameters.PerSequence.String())
	// A stream takes as long as it has tokens: there is no time limit for a reply.
	return serve.Serve(ctx, ln, serve.Options{Handler: handler, Drain: handler.Drain, Delay: c.shutdownDelay, Logger: logger})
}

func newHandler(c config) (*http.Handler, error) {
	service, err := tokens.NewService(c.parameters)
	if err != nil {
		return nil, err
	}
	registry := prom.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if err := prometheus.Register(registry, service); err != nil {
		return nil, err
	}
	return http.NewHandler(http.Config{
		Service: service, Version: version, InstanceID: serve.InstanceID(), Metrics: prometheus.Handler(registry), Now: time.Now,
	})
}
