package http

import "github.com/loadtest-dev/loadtest-operator/targets/shortener"

// About is what the service says of itself at /version, so that a load test can
// check what it is about to test. A setting of a variant that is off is left
// out.
type About struct {
	Version    string        `json:"version"`
	InstanceID string        `json:"instanceId"`
	API        shortener.API `json:"api"`
	// Replicas are as many as were installed; a replica does not see the others.
	Replicas    int    `json:"replicas"`
	Shards      int    `json:"shards"`
	Connections string `json:"connections"`
	PoolSize    int    `json:"poolSize,omitempty"`
	LinkIndex   bool   `json:"linkIndex"`
	CodeLength  int    `json:"codeLength"`
	LinkTTL     string `json:"linkTtl"`

	Cache            string `json:"cache"`
	CacheTTL         string `json:"cacheTtl,omitempty"`
	CacheNegativeTTL string `json:"cacheNegativeTtl,omitempty"`

	Clicks string `json:"clicks"`

	RateLimit          bool    `json:"rateLimit"`
	RateLimitPerSecond float64 `json:"rateLimitPerSecond,omitempty"`
	RateLimitBurst     int     `json:"rateLimitBurst,omitempty"`
}

// ConsumerAbout is what a consumer of clicks says of itself.
type ConsumerAbout struct {
	Version     string `json:"version"`
	InstanceID  string `json:"instanceId"`
	Clicks      string `json:"clicks"`
	Shards      int    `json:"shards"`
	Connections string `json:"connections"`
}
