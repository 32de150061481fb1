package usagereader

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetstate"
)

const (
	// interval is the least time between two lists: a third of that between two scrapes of
	// metrics-server, so that a reading is seen soon after it is made.
	interval = 5 * time.Second
	// timeout bounds a list.
	timeout = 2 * time.Second
)

// Reader reads what pods use. A nil *Reader is one that is not to read it, and says so.
type Reader struct {
	// API reads the Service of a target.
	API client.Reader
	// Metrics is a client of the API server.
	Metrics rest.Interface
}

// Readings are those of a step, which are added to beside the passes.
type Readings struct {
	sample lifecycle.Sample

	mu      sync.Mutex
	usage   targetstate.Usage
	reading bool
	latest  time.Time
	// selector is that of the Service; empty: it is not known yet.
	selector string
}

// Continue returns the readings of a step: those so far, if they are of it, or new ones. It begins
// another reading if one is due, and does not wait for it.
func (r *Reader) Continue(ctx context.Context, namespace string, so *Readings, wanted lifecycle.Sample, now time.Time) *Readings {
	if r == nil {
		return so
	}
	if so == nil || so.sample.Step != wanted.Step || !so.sample.From.Equal(wanted.From) {
		so = &Readings{sample: wanted}
	}
	if so.begin(now) {
		go r.read(context.WithoutCancel(ctx), namespace, so)
	}
	return so
}

// Final are the readings of a step that has ended. It makes the last one, and waits for it.
func (r *Reader) Final(ctx context.Context, namespace string, of *Readings, step int) *targetstate.Usage {
	switch {
	case r == nil:
		return &targetstate.Usage{Problem: "The operator is configured not to read what the pods of targets use."}
	case of == nil || of.sample.Step != step:
		return &targetstate.Usage{}
	}
	r.read(ctx, namespace, of)
	of.mu.Lock()
	defer of.mu.Unlock()
	return of.usage.Clone()
}

// begin says whether a reading is due, and notes that it begins.
func (o *Readings) begin(now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.reading || now.Sub(o.latest).Abs() < interval {
		return false
	}
	o.reading, o.latest = true, now
	return true
}

// read makes a reading, and adds it.
func (r *Reader) read(ctx context.Context, namespace string, to *Readings) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	uses, selector, err := r.uses(ctx, namespace, to)
	to.mu.Lock()
	defer to.mu.Unlock()
	to.reading, to.selector, to.usage.Problem = false, selector, ""
	if err != nil {
		to.usage.Problem = problemOf(err)
		return
	}
	to.usage.Add(uses, to.sample.From, to.sample.To)
}
