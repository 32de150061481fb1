package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/test/await"
)

// passes are how long the passes of the reconciler took so far, as controller-runtime
// counts them.
type passes struct {
	count   float64
	buckets map[float64]float64 // how many took at most that many seconds
}

const passBucket = `controller_runtime_reconcile_time_seconds_bucket{controller="loadtest",le="`

// readPasses reads the operator's metrics, as soon as it serves them.
func readPasses(ctx context.Context, url string) (p passes, err error) {
	err = await.Try(ctx, func(ctx context.Context) (err error) {
		p, err = tryPasses(ctx, url)
		return err
	})
	if err != nil {
		return p, fmt.Errorf("the page of the operator's metrics is not ready: %w", err)
	}
	return p, nil
}

// settled reads the operator's metrics once it has seen all that there is, and has nothing
// to do for a second.
func settled(ctx context.Context, url string) (passes, error) {
	const quiet = time.Second
	before, err := readPasses(ctx, url)
	for err == nil {
		select {
		case <-ctx.Done():
			return passes{}, fmt.Errorf("wait until the operator is idle: %w", ctx.Err())
		case <-time.After(quiet):
		}
		var now passes
		if now, err = readPasses(ctx, url); now.count == before.count && now.count > 0 {
			return now, err
		}
		before = now
	}
	return passes{}, err
}

func tryPasses(ctx context.Context, url string) (passes, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return passes{}, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return passes{}, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return passes{}, err
	}
	return parsePasses(string(text))
}

func parsePasses(text string) (passes, error) {
	p := passes{buckets: map[float64]float64{}}
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, passBucket)
		if !ok {
			continue
		}
		le, value, _ := strings.Cut(strings.TrimSpace(rest), `"} `)
		bound, err := strconv.ParseFloat(le, 64)
		if err != nil {
			return p, err
		}
		if p.buckets[bound], err = strconv.ParseFloat(value, 64); err != nil {
			return p, err
		}
	}
	p.count = p.buckets[math.Inf(1)]
	return p, nil
}

// since are the passes after those that were counted before.
func (p passes) since(before passes) passes {
	d := passes{count: p.count - before.count, buckets: map[float64]float64{}}
	for bound, n := range p.buckets {
		d.buckets[bound] = n - before.buckets[bound]
	}
	return d
}

// quantile is that of the passes in ms, within a bucket by its share.
func (p passes) quantile(q float64) float64 {
	var bounds []float64
	for bound := range p.buckets {
		bounds = append(bounds, bound)
	}
	slices.Sort(bounds)
	rank, low, below := q*p.count, 0.0, 0.0
	for _, bound := range bounds {
		if n := p.buckets[bound]; n >= rank && n > below {
			if math.IsInf(bound, 1) {
				return low * 1000
			}
			return (low + (bound-low)*(rank-below)/(n-below)) * 1000
		}
		low, below = bound, p.buckets[bound]
	}
	return low * 1000
}
