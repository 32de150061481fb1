package main

import (
	"context"
	"fmt"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/hack/bench/process"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/harness"
)

// question is a request to a service; path and body are templates.
type question struct {
	method, path, body string
	status             int32
	// example is a path that the template makes.
	example string
}

var (
	// visit is of one of the hot links, which were seeded: a decimal code is valid
	// base62, too.
	visit = question{method: "GET", path: fmt.Sprintf("/000${rand:%d-%d}", firstHot, lastHot), example: fmt.Sprintf("/000%d", firstHot), status: 302}
	// create makes a link with a random code.
	create = question{method: "POST", path: "/urls", body: `{"url":"https://example.com/new/${seq}"}`, status: 201}
	// appendOne has the event that the benchmarks of package sqlite insert.
	appendOne = question{method: "POST", path: "/events", example: "/events", status: 200,
		body: `{"type":"order.created","data":{"user":"u-12345","amount":199.95,"currency":"EUR","items":[1,2,3]}}`}
	// take is of one client, and is granted.
	take = question{method: "GET", path: "/api", example: "/api", status: 200}
)

const (
	// firstHot to lastHot are in the cache, once they were asked for.
	firstHot, lastHot = 100, 999
	// seeded is how many links there are: up to 000999, which is 35,163 in base62.
	seeded = 36_000
)

// entry is a row: something that is asked a question by so many at once.
type entry struct {
	name string
	question
	connections int64
	of          *service
	// bare is the name of the entry to compare with, empty if there is none.
	bare string
	// behind is what the service itself asks; nil is nothing, or the disk.
	behind *service
	// waits says that the service waits for the disk, or for the few round trips
	// that its requests share, so that no core has to be busy.
	waits bool
}

// key is an entry's among results.
func (e entry) key() key { return key{name: fmt.Sprintf("%s at %d", e.name, e.connections)} }

// hit is one measurement of an entry.
type hit struct {
	sample
	behind process.Usage
}

func (h hit) behindCost() float64 { return h.perRequest(h.behind) }

// benchTargets measures one replica of each service on one core.
func benchTargets(ctx context.Context, b *bench) (last string, err error) {
	d := b.length(4 * time.Second)
	x, err := b.prepare(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = closing(err, x) }()
	entries, err := x.enter(ctx)
	if err != nil {
		return "", err
	}
	r := targetResults{entries: entries, hits: map[key][]hit{}, plain: map[int][]float64{}, fileSystem: x.fileSystem}
	for round := range b.rounds {
		for _, e := range entries {
			h, err := b.hit(ctx, e, d)
			if err != nil {
				return "", fmt.Errorf("%s: %w", e.name, err)
			}
			fmt.Fprintf(b.log, "round %d: %-30s %3d connections %8.0f/s %6.2f us\n", round+1, e.name, e.connections, h.rate(), h.serverCost())
			r.hits[e.key()] = append(r.hits[e.key()], h)
		}
		if err := x.insert(ctx, d, r.plain); err != nil {
			return "", err
		}
	}
	if err := x.allFromCache(); err != nil {
		return "", err
	}
	r.write(b, d)
	return r.lastLine(), nil
}

// hit asks an entry as fast as its answers come.
func (b *bench) hit(ctx context.Context, e entry, d time.Duration) (h hit, err error) {
	w, err := b.startWorker(e.loadTest(d), 0, generatorCore, "")
	if err != nil {
		return h, err
	}
	c := crew{w}
	if err := c.ready(); err != nil {
		return h, err
	}
	before, behindBefore, err := e.cost()
	if err != nil {
		return h, err
	}
	start, measured, err := c.run(0)
	if err != nil {
		return h, err
	}
	after, behindAfter, err := e.cost()
	if err != nil {
		return h, err
	}
	if h.generator, err = c.stop(); err != nil {
		return h, err
	}
	total, err := measured.Total()
	if err != nil {
		return h, err
	}
	if total.Expected == 0 || total.Expected != total.Sent {
		return h, fmt.Errorf("%d of %d requests were answered with %d", total.Expected, total.Sent, e.status)
	}
	h.counters = groundtruth.Counters{Requests: total.Expected, First: start, Last: start + int64(d)}
	h.server.CPU, h.behind.CPU = after-before, behindAfter-behindBefore
	return h, ctx.Err()
}

func (e entry) loadTest(d time.Duration) *v1beta1.LoadTest {
	lt := loadTest(e.of.url, 1, harness.ClosedUsers(int32(e.connections), d))
	r := &lt.Spec.Requests[0]
	r.HTTP.Method, r.HTTP.Path, r.HTTP.Body = v1beta1.Method(e.method), e.path, e.body
	r.Expect = &v1beta1.Expectation{Status: []int32{e.status}}
	if e.body != "" {
		json := "application/json"
		r.HTTP.Headers = []v1beta1.Header{{Name: "Content-Type", Value: &json}}
	}
	return lt
}

// cost is the processor time of the service and its backends so far.
func (e entry) cost() (service, behind time.Duration, err error) {
	if service, err = e.of.CPU(); err != nil || e.behind == nil {
		return service, 0, err
	}
	behind, err = e.behind.CPU()
	return service, behind, err
}
