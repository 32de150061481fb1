package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/loadtest-dev/loadtest-operator/hack/bench/simulated"
)

const (
	// largeKB is the size of each LoadTest and schedule beside which the operator starts.
	largeKB = 1200
	// startPatience is how long it may all take: most of it goes into what is stored before.
	startPatience = 40 * time.Minute
	maxStartRSS   = 256 // MB
	maxReady      = 15 * time.Second
)

// startMethod says what is measured.
const startMethod = `A real kube-apiserver and etcd, and the operator as a process of its own that leads. It
has an empty cache, and starts beside LoadTests that may not begin yet and schedules, of 1.2 MB each. It is
ready when workers can reach it and all runs that have begun are in its cache; what waits begins
when it has read all.

`

// benchStart measures how long the operator takes to start beside much that is stored, and its
// memory until it has read all.
func benchStart(ctx context.Context, b *bench) (last string, err error) {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	server, err := simulated.StartServer(ctx, b.root, b.work)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	fmt.Fprintf(b.log, "creating %d LoadTests and as many schedules of %d KB\n", b.waiting, largeKB)
	if err := simulated.Wait(ctx, server.Client, b.waiting, largeKB*1000); err != nil {
		return "", err
	}
	o, err := b.startOperator(ctx, server)
	if err != nil {
		return "", err
	}
	defer o.process.Kill()
	started := time.Now()
	if err := o.ready(ctx); err != nil {
		return "", err
	}
	ready := time.Since(started)
	read, err := o.hasReadAll(ctx)
	if err != nil {
		return "", err
	}
	rss := o.process.PeakRSS() >> 20
	fmt.Fprint(b.out, startMethod)
	fmt.Fprintf(b.out, "Ready after %.1f s, all read after %.0f s; peak resident memory %d MB.\n",
		ready.Seconds(), read.Sub(started).Seconds(), rss)
	last = fmt.Sprintf("bench-start: waiting=%d schedules=%d kb-each=%d ready-s=%.1f all-read-s=%.0f rss-mb=%d",
		b.waiting, b.waiting, largeKB, ready.Seconds(), read.Sub(started).Seconds(), rss)
	if rss > maxStartRSS || ready > maxReady {
		return last, fmt.Errorf("%s: want at most %d MB, and that it is ready within %s", last, maxStartRSS, maxReady)
	}
	return last, nil
}

// ready waits until the operator is ready.
func (o *operator) ready(ctx context.Context) error {
	for {
		if answers(ctx, o.probe) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait until the operator is ready: %w", ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// answers says whether a URL answers OK.
func answers(ctx context.Context, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}
