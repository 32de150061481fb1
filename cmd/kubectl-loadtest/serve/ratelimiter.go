package serve

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter"
	limiterhttp "github.com/loadtest-dev/loadtest-operator/targets/ratelimiter/http"
	"github.com/loadtest-dev/loadtest-operator/targets/ratelimiter/memory"
)

// contract is that of the published experiment.
var contract = ratelimiter.Contract{Capacity: 50, RefillPerSecond: 10}

// roundTrip is what a store on the network takes for one command.
const roundTrip = time.Millisecond

// loopback are the peers whose X-Forwarded-For is believed: the workers.
var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

func rateLimiter(racy bool) (http.Handler, error) {
	limiter, strategy := memory.New(contract, time.Now), ratelimiter.Strategy("memory")
	if racy {
		limiter, strategy = memory.NewRacy(contract, time.Now, roundTrip), "memory-racy"
	}
	return limiterhttp.NewHandler(limiterhttp.Config{
		Service: ratelimiter.Service{
			Limiter: limiter, Contract: contract, OnStoreFailure: ratelimiter.Closed, StorePause: time.Second,
			Observe: func(ratelimiter.Outcome, time.Duration) {},
			Now:     time.Now, Logger: slog.New(slog.DiscardHandler),
		},
		About: limiterhttp.About{
			Version: version, InstanceID: version, Strategy: strategy, OnStoreFailure: ratelimiter.Closed,
			Capacity: contract.Capacity, RefillPerSecond: contract.RefillPerSecond,
		},
		TrustedProxies: loopback,
		Ping:           func(context.Context) error { return nil },
		Metrics:        http.NotFoundHandler(),
	})
}

// version is what a system that is being tried says of itself.
const version = "trial"
