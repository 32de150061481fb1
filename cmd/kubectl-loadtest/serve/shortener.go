package serve

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	shortenerhttp "github.com/loadtest-dev/loadtest-operator/targets/shortener/http"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/memory"
)

const (
	codeLength = 6
	linkTTL    = 24 * time.Hour
)

func shortURLs() (http.Handler, error) {
	store, count, log := memory.New(time.Now), func(shortener.Event, int) {}, slog.New(slog.DiscardHandler)
	service, err := shortener.New(shortener.Config{
		Store: store, Clicks: shortener.Synchronous{Store: store, Count: count},
		CodeLength: codeLength, TTL: linkTTL, Now: time.Now, Count: count, Logger: log,
	})
	if err != nil {
		return nil, err
	}
	return shortenerhttp.NewHandler(shortenerhttp.Config{
		PagesConfig: shortenerhttp.PagesConfig{
			About: shortenerhttp.About{
				Version: version, InstanceID: version, API: shortener.Canonical, Replicas: 1, Shards: 1, Connections: "memory",
				CodeLength: codeLength, LinkTTL: linkTTL.String(), Cache: "none", Clicks: "sync",
			},
			Ready: service.Ping, Metrics: http.NotFoundHandler(),
			Observe: func(shortener.Route, int, time.Duration) {}, Now: time.Now, Logger: log,
		},
		Service: service, API: shortener.Canonical, BaseURL: "http://shortener", Count: count,
	})
}
