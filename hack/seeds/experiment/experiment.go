package experiment

import "slices"

// Experiment is a column of a published table.
type Experiment struct {
	// Name is that of its overlay, and begins with the seed's number.
	Name string
	// Preset is the values file of the target: values-PRESET.yaml.
	Preset string
	// Set are values over those of the preset, as helm --set takes them.
	Set []string
	// Tests are the load tests that run, in this order.
	Tests []string
}

// Seed is the number of the published document.
func (e *Experiment) Seed() string { return e.Name[:3] }

// Namespace is where it runs.
func (e *Experiment) Namespace() string { return "seed-" + e.Name }

// Seeds are the numbers of the published documents.
func Seeds() []string { return []string{"000", "001", "002", "003", "004"} }

// Of are the experiments of a seed.
func Of(seed string) []Experiment {
	return slices.DeleteFunc(All(), func(e Experiment) bool { return e.Seed() != seed })
}

// All are the experiments in the order in which they run.
func All() []Experiment {
	reads, workers, users := []string{"tiny-bitly-reads"}, []string{"sharded-reads"}, []string{"flask-users"}
	limiter := []string{"single-client-burst", "five-clients", "burst-then-steady"}
	return []Experiment{
		// Writes were published of V1 alone.
		{Name: "000-v1", Preset: "seed-000-v1", Tests: []string{"tiny-bitly-writes", "tiny-bitly-reads"}},
		{Name: "000-v2", Preset: "seed-000-v2", Tests: reads},
		{Name: "000-v3", Preset: "seed-000-v3", Tests: reads},
		{Name: "000-v3-pool", Preset: "seed-000-v3-pool", Tests: reads},
		{Name: "000-v4", Preset: "seed-000-v4", Tests: reads},
		{Name: "001-1-worker", Preset: "seed-001", Set: []string{"shortener.replicas=1"}, Tests: workers},
		{Name: "001-4-workers", Preset: "seed-001", Tests: workers},
		{Name: "001-clicks", Preset: "seed-001-clicks", Tests: workers},
		// From a cache that has every link no request reaches a shard. With three shards
		// and no cache it is also what the published run calls a cold cache.
		{Name: "001-1-shard", Preset: "seed-001", Set: []string{"postgres.shards=1", "shortener.cache.enabled=false"}, Tests: workers},
		{Name: "001-3-shards", Preset: "seed-001", Set: []string{"shortener.cache.enabled=false"}, Tests: workers},
		{Name: "001-sustained", Preset: "seed-001", Tests: []string{"sharded-sustained"}},
		{Name: "002-v01", Preset: "seed-002-v01", Tests: users},
		{Name: "002-v02", Preset: "seed-002-v02", Tests: users},
		{Name: "002-v03", Preset: "seed-002-v03", Tests: users},
		// A range is read of events that an earlier test has stored.
		{Name: "003-1gb", Preset: "seed-003-1gb", Tests: []string{"events-position", "events-append", "events-range",
			"events-batch-10", "events-optimal", "events-batch-500", "events-batch-1000", "events-batch-100"}},
		// What lasts for 5 minutes is left out: it is the optimal batch for longer.
		{Name: "003-delay", Preset: "seed-003-1gb", Set: []string{"eventstore.delay=250ms"}, Tests: []string{"events-position", "events-append",
			"events-range", "events-batch-10", "events-optimal", "events-batch-500", "events-batch-1000"}},
		// Of 2 GB the sustained load alone was published.
		{Name: "003-2gb", Preset: "seed-003-2gb", Tests: []string{"events-batch-100"}},
		{Name: "004-hash", Preset: "seed-004-hash", Tests: limiter},
		{Name: "004-transaction", Preset: "seed-004-transaction", Tests: limiter},
		{Name: "004-transaction-429", Preset: "seed-004-transaction-429", Tests: limiter},
		{Name: "004-lua", Preset: "seed-004-lua", Tests: limiter},
		{Name: "004-lua-seconds", Preset: "seed-004-lua-seconds", Tests: limiter},
	}
}
