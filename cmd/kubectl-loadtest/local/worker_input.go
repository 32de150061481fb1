package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/loadtest-dev/loadtest-operator/loadworker/assemble"
	"github.com/loadtest-dev/loadtest-operator/loadworker/attack"
	"github.com/loadtest-dev/loadtest-operator/loadworker/health"
	"github.com/loadtest-dev/loadtest-operator/loadworker/requestlog"
	"github.com/loadtest-dev/loadtest-operator/loadworker/session"
)

// invitation is what a worker reads from its standard input: what the environment of a
// pod says.
type invitation struct {
	Coordinator string `json:"coordinator"`
	CA          string `json:"ca"`
	Run         string `json:"run"`
	Worker      int32  `json:"worker"`
	// Workers is how many share this machine.
	Workers   int32  `json:"workers"`
	Token     string `json:"token"`
	TokenFile string `json:"tokenFile"`
	// RequestLog is the file for a record of each request; "": there is none.
	RequestLog string `json:"requestLog,omitempty"`
}

// Worker is the life of a worker. It ends at once when its standard input does, which
// the process that invited it holds open: no worker sends load that nothing counts.
func Worker(ctx context.Context, stdin io.Reader, version string, log *slog.Logger) error {
	decoder := json.NewDecoder(stdin)
	var i invitation
	if err := decoder.Decode(&i); err != nil {
		return fmt.Errorf("read the task of this worker, which kubectl loadtest run --local gives: %w", err)
	}
	limits := share(health.SystemLimits(), int64(max(i.Workers, 1)))
	assembly, closeLog, err := assembly(version, limits, i.RequestLog)
	if err != nil {
		return err
	}
	attack.SpareProcessor()
	attack.CollectSeldom(os.Getenv)
	assemble.LimitMemory(os.Getenv, limits)
	ended := make(chan error, 1)
	go func() {
		err := session.Run(ctx, session.Config{
			Coordinator: i.Coordinator, CA: []byte(i.CA), TokenFile: i.TokenFile, Run: i.Run, Worker: i.Worker,
			Assembly: assembly, Log: log,
		})
		ended <- errors.Join(err, closeLog())
	}()
	orphaned := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, stdin)
		close(orphaned)
	}()
	select {
	case err := <-ended:
		return err
	case <-orphaned:
		return fmt.Errorf("the process that started worker %d has ended", i.Worker)
	}
}

// assembly is what a worker sends with, and what closes its record of requests.
func assembly(version string, limits health.Limits, requestLog string) (assemble.Config, func() error, error) {
	c := assemble.Config{Version: version, Limits: limits}
	if requestLog == "" {
		return c, func() error { return nil }, nil
	}
	log, closeLog, err := requestlog.Create(requestLog)
	c.Log = log
	return c, closeLog, err
}

// share is a worker's share of what all workers of this machine may use together. Each
// process has descriptors of its own.
func share(l health.Limits, workers int64) health.Limits {
	if l.Ports < health.Unlimited {
		l.Ports /= workers
	}
	l.Memory /= workers
	return l
}
