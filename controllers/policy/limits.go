package policy

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	config "github.com/loadtest-dev/loadtest-operator/api/config/v1alpha1"
)

// The limits that a configuration does not say.
const (
	defaultClusterRuns    = 50
	defaultClusterWorkers = 1000
	defaultRuns           = 10
	defaultUsers          = 100_000
	defaultRate           = 100_000
	defaultWorkers        = 100
	defaultDuration       = 24 * time.Hour
	defaultHeld           = time.Hour
	defaultBytesPerSecond = 1 << 30
)

// Limits are how large a LoadTest of one namespace may be, and how many of them run at
// once. Zero is no limit.
type Limits struct {
	// Runs is how many LoadTests of the namespace run at once, and WorkersAtOnce how many workers
	// they have together.
	Runs, WorkersAtOnce int32
	// Users, Rate, in requests per second, and BytesPerSecond are of a step.
	Users          int32
	Rate           int64
	BytesPerSecond int64
	// Workers and Duration are of a LoadTest, and Held is how long it may be held between two
	// steps.
	Workers        int32
	Duration, Held time.Duration
}

// Cluster is how much runs at once in the cluster. Zero is no limit.
type Cluster struct {
	Runs, Workers int32
}

// Cluster is how much runs at once in the cluster.
func (p *Policy) Cluster() Cluster {
	l := &p.config.Limits
	return Cluster{Runs: ptr.Deref(l.Runs, defaultClusterRuns), Workers: ptr.Deref(l.Workers, defaultClusterWorkers)}
}

// limits are those of a namespace. A LoadTest with more workers than the cluster may have
// at once would wait for ever.
func (p *Policy) limits(namespace string) Limits {
	var n config.NamespaceLimits
	for _, entry := range p.config.Limits.Namespaces {
		if selects(entry.Namespaces, namespace) {
			n = entry
			break
		}
	}
	l := Limits{
		Runs: ptr.Deref(n.Runs, defaultRuns), Users: ptr.Deref(n.Users, defaultUsers), Rate: ptr.Deref(n.Rate, defaultRate),
		Workers:  min(ptr.Deref(n.Workers, defaultWorkers), p.Cluster().Workers),
		Duration: defaultDuration, Held: defaultHeld, BytesPerSecond: defaultBytesPerSecond,
	}
	// Half of the cluster's is left to others, whatever a namespace does, unless the administrator
	// lets a single LoadTest have more.
	l.WorkersAtOnce = ptr.Deref(n.WorkersAtOnce, max(l.Workers, p.Cluster().Workers/2))
	if n.Duration != nil {
		l.Duration = n.Duration.Duration
	}
	if n.Held != nil {
		l.Held = n.Held.Duration
	}
	if n.BytesPerSecond != nil {
		l.BytesPerSecond = n.BytesPerSecond.Value()
	}
	return l
}

func checkLimits(l config.Limits) error {
	if err := atLeastOne("limits", count{"runs", l.Runs}, count{"workers", l.Workers}); err != nil {
		return err
	}
	for i, n := range l.Namespaces {
		field := fmt.Sprintf("limits.namespaces[%d]", i)
		if err := checkNamespaceLimits(field, n, ptr.Deref(l.Workers, defaultClusterWorkers)); err != nil {
			return err
		}
		if i+1 < len(l.Namespaces) && len(n.Namespaces) == 0 {
			return fmt.Errorf("%s: matches all namespaces, so the rules after it never apply; put it last", field)
		}
	}
	return nil
}

// checkNamespaceLimits checks the entry of limits.namespaces that a field names. clusterWorkers is
// the limit of the cluster.
func checkNamespaceLimits(field string, n config.NamespaceLimits, clusterWorkers int32) error {
	if err := atLeastOne(field, count{"runs", n.Runs}, count{"users", n.Users}, count{"workers", n.Workers}, count{"workersAtOnce", n.WorkersAtOnce}); err != nil {
		return err
	}
	if most := min(ptr.Deref(n.Workers, defaultWorkers), clusterWorkers); n.WorkersAtOnce != nil && *n.WorkersAtOnce < most {
		return fmt.Errorf("%s.workersAtOnce: %d must be at least workers, %d, which a LoadTest may have: it would wait for ever; lower workers, too", field, *n.WorkersAtOnce, most)
	}
	if n.Rate != nil && *n.Rate < 1 {
		return fmt.Errorf("%s.rate: %d must be at least 1; to keep every LoadTest from beginning, set stop", field, *n.Rate)
	}
	if n.Duration != nil && n.Duration.Duration <= 0 {
		return fmt.Errorf("%s.duration: %v must be greater than 0, such as 2h", field, n.Duration.Duration)
	}
	if n.Held != nil && n.Held.Duration <= 0 {
		return fmt.Errorf("%s.held: %v must be greater than 0, such as 1h", field, n.Held.Duration)
	}
	if n.BytesPerSecond != nil && n.BytesPerSecond.Cmp(*resource.NewQuantity(1, resource.BinarySI)) < 0 {
		return fmt.Errorf("%s.bytesPerSecond: %v must be at least 1, such as 100Mi", field, n.BytesPerSecond)
	}
	return nil
}

// count is a number that a limit may be.
type count struct {
	field string
	value *int32
}

func atLeastOne(of string, counts ...count) error {
	for _, c := range counts {
		if c.value != nil && *c.value < 1 {
			return fmt.Errorf("%s.%s: %d must be at least 1; to keep every LoadTest from beginning, set stop", of, c.field, *c.value)
		}
	}
	return nil
}
