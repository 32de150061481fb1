package manifest

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

// Limit is a limit of a target that a Factor divides: at a tenth of the users a pool of the
// published size would be ten times as generous.
type Limit struct {
	// Name is what it limits, in words.
	Name string
	// Path is its place among the values of the chart of targets.
	Path string
	// Published and Scaled are its values, as Helm takes them.
	Published, Scaled string
}

// String is the limit as documents name it.
func (l Limit) String() string { return fmt.Sprintf("%s %s → %s", l.Name, l.Published, l.Scaled) }

// Set is the limit as helm --set takes it.
func (l Limit) Set() string { return l.Path + "=" + l.Scaled }

// values are those of the chart of targets that limit one.
type values struct {
	Shortener struct {
		service
		Connections string `json:"connections"`
		PoolSize    int    `json:"poolSize"`
		Cache       struct {
			Enabled bool `json:"enabled"`
		} `json:"cache"`
		Clicks struct {
			Mode string `json:"mode"`
		} `json:"clicks"`
	} `json:"shortener"`
	EventStore service `json:"eventstore"`
	Postgres   struct {
		MaxConnections int `json:"maxConnections"`
	} `json:"postgres"`
	PgBouncer struct {
		PoolSize int `json:"poolSize"`
	} `json:"pgbouncer"`
	Redis struct {
		PoolSize int `json:"poolSize"`
	} `json:"redis"`
}

type service struct {
	Enabled   bool `json:"enabled"`
	Resources struct {
		Limits struct {
			CPU resource.Quantity `json:"cpu"`
		} `json:"limits"`
	} `json:"resources"`
}

// leastConnections are those that a Postgres of the chart takes at least.
const leastConnections = 10

// LimitsOf are the limits of a target, divided as its users are: connections and processor
// time. Memory is no limit of this kind, as what a target stores does not depend on the
// users. The values are documents of YAML, later ones over earlier ones as in Helm. Those of
// a rate limiter stay, as its load tests do.
func (f Factor) LimitsOf(documents ...[]byte) ([]Limit, error) {
	var v values
	for _, text := range documents {
		if err := yaml.Unmarshal(text, &v); err != nil {
			return nil, fmt.Errorf("read the values of a target: %w", err)
		}
	}
	var list []Limit
	add := func(name, path string, published, least int) {
		list = append(list, Limit{name, path, fmt.Sprint(published), fmt.Sprint(max(f.share(published), least))})
	}
	if s := &v.Shortener; s.Enabled {
		add("connections of a Postgres", "postgres.maxConnections", v.Postgres.MaxConnections, leastConnections)
		if s.Connections != "unlimited" {
			add("the pool of a replica", "shortener.poolSize", s.PoolSize, 1)
		}
		if s.Connections == "pgbouncer" {
			add("the pool of PgBouncer", "pgbouncer.poolSize", v.PgBouncer.PoolSize, 1)
		}
		if s.Cache.Enabled || s.Clicks.Mode == "redis" {
			add("a replica's connections to Redis", "redis.poolSize", v.Redis.PoolSize, 1)
		}
		list = append(list, f.processors("shortener", &s.service)...)
	}
	if v.EventStore.Enabled {
		list = append(list, f.processors("eventstore", &v.EventStore)...)
	}
	return list, nil
}

// processors are the limit on the processor time of a replica, if there is one.
func (f Factor) processors(name string, s *service) []Limit {
	cpu := s.Resources.Limits.CPU
	if cpu.IsZero() {
		return nil
	}
	scaled := float64(f.share(int(cpu.MilliValue()))) / 1000
	return []Limit{{"processors of a replica", name + ".resources.limits.cpu", cpu.String(), strconv.FormatFloat(scaled, 'f', -1, 64)}}
}

// share is a number divided by Load and rounded up.
func (f Factor) share(n int) int { return (n + f.Load - 1) / f.Load }

// Sets are values as helm --set takes them, PATH=VALUE, as documents of YAML.
func Sets(sets []string) [][]byte {
	documents := make([][]byte, len(sets))
	for i, set := range sets {
		path, value, _ := strings.Cut(set, "=")
		names := strings.Split(path, ".")
		documents[i] = []byte("{" + strings.Join(names, ": {") + ": " + value + strings.Repeat("}", len(names)))
	}
	return documents
}

// InWords are limits as a document names them.
func InWords(limits []Limit) string {
	words := make([]string, len(limits))
	for i, l := range limits {
		words[i] = l.String()
	}
	return strings.Join(words, ", ")
}
