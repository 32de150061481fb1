package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/targets/tokens"
)

// The requests of streams/search.yaml.
const promptTokens, outputTokens = 20, 16

// benchTokens searches for the capacity of the stand-in for a server of a language model, which is known, by the
// time to the first event.
func benchTokens(ctx context.Context, b *bench) (string, error) {
	const plugin = "kubectl-loadtest"
	if err := b.compile(ctx, plugin, "./cmd/kubectl-loadtest", "build"); err != nil {
		return "", err
	}
	manifest := filepath.Join(b.root, "hack", "bench", "streams", "search.yaml")
	run := exec.CommandContext(ctx, b.path(plugin), "run", "--local", "--serve", "tokens", "-f", manifest, "-o", "json")
	run.Stderr = b.log
	run.WaitDelay = time.Minute
	run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
	out, err := run.Output()
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) { // a verdict has an exit code
		return "", err
	}
	var lt v1beta1.LoadTest
	if err := json.Unmarshal(out, &lt); err != nil {
		return "", fmt.Errorf("the result of the search: %w", err)
	}
	return b.tokensLine(&lt)
}

// tokensLine compares what a search has found with what the server can answer.
func (b *bench) tokensLine(lt *v1beta1.LoadTest) (string, error) {
	s := lt.Status.Search
	if s == nil {
		return "", fmt.Errorf("there is no result of a search: the verdict is %s", lt.Status.Verdict)
	}
	capacity := tokens.Default().Capacity(promptTokens, outputTokens)
	low, err := strconv.ParseFloat(s.Low, 64)
	if err != nil {
		return "", fmt.Errorf("the search has kept no rate: %s", s.Message)
	}
	fmt.Fprintf(b.out, "Requests of %d prompt tokens and %d of an answer, of which the stand-in answers %.3g a second by its parameters.\n\n%s\n\n",
		promptTokens, outputTokens, capacity, s.Message)
	t := newTable("step", "first event p50", "p95", "on time")
	for i := range lt.Status.Steps {
		step := &lt.Status.Steps[i]
		if step.Result == nil || step.Result.Streams == nil || step.Result.Streams.FirstEvent == nil || len(step.Result.Streams.OnTime) == 0 {
			continue
		}
		e, kept := step.Result.Streams.FirstEvent, step.Result.Streams.OnTime[0].Requests
		t.row(step.Name, orUnknown(e.P50), orUnknown(e.P95), fmt.Sprintf("%.1f%%", 100*float64(kept)/float64(max(step.Result.Due, 1))))
	}
	t.write(b.out)
	return fmt.Sprintf("bench-tokens: capacity=%.2f found=%s breached=%s ratio=%.3f state=%s", capacity, s.Low, s.High, low/capacity, s.State), nil
}

// orUnknown is a time, or a dash.
func orUnknown(d *metav1.Duration) string {
	if d == nil {
		return "–"
	}
	return d.Duration.String()
}
