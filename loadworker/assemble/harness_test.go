package assemble

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/health"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

func testConfig() Config { return Config{Version: "test", Limits: health.SystemLimits()} }

// file writes a file as the kubelet mounts it.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// prepared is an assembly that is ready to begin.
func prepared(t *testing.T, a *workerv1.Assignment, c Config, notReady func(error)) *Assembly {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), workertest.Patience)
	defer cancel()
	x, err := New(ctx, a, c, notReady)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.Close)
	if err := x.Prepare(ctx, notReady); err != nil {
		t.Fatal(err)
	}
	return x
}

func ignore(error) {}

// refusal is the first for which an assignment cannot begin.
func refusal(t *testing.T, a *workerv1.Assignment, c Config) *Refusal {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), workertest.Patience)
	defer cancel()
	notReady := func(err error) {
		var refusal *Refusal
		if errors.As(err, &refusal) {
			cancel()
		}
	}
	x, err := New(ctx, a, c, notReady)
	if err == nil {
		err = x.Prepare(ctx, notReady)
	}
	var refusal *Refusal
	if !errors.As(err, &refusal) {
		t.Fatalf("the assignment ends with %v, want a refusal", err)
	}
	return refusal
}

// run runs the first step to its end.
func run(t *testing.T, x *Assembly) *measure.Measurement {
	t.Helper()
	step, err := x.Step(0)
	if err != nil {
		t.Fatal(err)
	}
	r := x.Runner(step).Start(step, time.Now().Add(20*time.Millisecond))
	select {
	case <-r.Done():
	case <-time.After(workertest.Patience):
		t.Fatal("the step does not end")
	}
	m, err := r.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return m
}
