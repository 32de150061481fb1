package solo

import (
	"cmp"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/attack"
	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/http1"
)

// Options are what an assignment does not say.
type Options struct {
	// MaxConnections bounds the connections of arrivals. Default 10,000.
	MaxConnections int
	// Lookup resolves host names. Default: the system's resolver.
	Lookup dial.Lookup
}

// NewRunner makes what runs the steps of an assignment.
func NewRunner(a *workerv1.Assignment, o Options) (*attack.Runner, error) {
	src, err := source.New(toSource(a))
	if err != nil {
		return nil, err
	}
	dialer, err := dial.NewDialer(dial.Config{
		URL:    a.GetTarget().GetUrl(),
		Policy: dial.AddressPolicy{AllowSpecial: a.GetTarget().GetAllowSpecialAddresses()},
		Lookup: o.Lookup,
	})
	if err != nil {
		return nil, err
	}
	return attack.NewRunner(attack.Config{
		Source: src, Client: http1.NewClient(dialer, "loadtest-operator/solo"), Worker: a.GetWorker(), Seed: a.GetSeed(),
		Timeout:        time.Duration(a.GetTarget().GetTimeoutNanos()),
		MaxConnections: cmp.Or(o.MaxConnections, 10_000),
		Audit:          a.GetClientHeader() != "",
	})
}

func toSource(a *workerv1.Assignment) source.Config {
	c := source.Config{ClientHeader: a.GetClientHeader(), Seed: a.GetSeed()}
	for _, r := range a.GetRequests() {
		request := source.Request{
			Name: r.GetName(), Weight: r.GetWeight(), Method: r.GetMethod(), Path: r.GetPath(),
			Body: string(r.GetBody()), Expect: source.Expectation{Status: r.GetExpectedStatus()},
		}
		for _, h := range r.GetHeaders() {
			request.Headers = append(request.Headers, source.Header{Name: h.GetName(), Value: h.GetValue()})
		}
		c.Requests = append(c.Requests, request)
	}
	return c
}
