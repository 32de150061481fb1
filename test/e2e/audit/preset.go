package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"sigs.k8s.io/yaml"
)

// Service is one of the services that are there to be load tested.
type Service string

const (
	Shortener   Service = "shortener"
	EventStore  Service = "eventstore"
	RateLimiter Service = "ratelimiter"
)

// Preset is a values file of the chart of targets, as far as it decides what is
// to be sent and seen.
type Preset struct {
	// Name is the file's, without the common prefix and suffix.
	Name string
	File string
	Service
	// Host and Port are where the service is reached.
	Host string
	Port int
	// Replicas is how many pods of the service there are.
	Replicas int
	// API and Clicks are variants of the shortener.
	API, Clicks string
	// Strategy, Capacity and RefillPerSecond are the rate limiter's.
	Strategy        string
	Capacity        int64
	RefillPerSecond float64
	// Disturbed says that a pod of the service is killed in the middle of its
	// run.
	Disturbed bool
}

// values are those of the chart that a preset is read from.
type values struct {
	Shortener struct {
		service
		API    string `json:"api"`
		Clicks struct {
			Mode string `json:"mode"`
		} `json:"clicks"`
	} `json:"shortener"`
	EventStore  struct{ service } `json:"eventstore"`
	RateLimiter struct {
		service
		Strategy        string  `json:"strategy"`
		Capacity        int64   `json:"capacity"`
		RefillPerSecond float64 `json:"refillPerSecond"`
	} `json:"ratelimiter"`
}

type service struct {
	Enabled  bool `json:"enabled"`
	Replicas int  `json:"replicas"`
	Service  struct {
		Name string `json:"name"`
		Port int    `json:"port"`
	} `json:"service"`
}

const prefix, suffix = "values-", ".yaml"

// Presets are those of the chart in the folder, in the order of their names.
func Presets(chart fs.FS) ([]Preset, error) {
	defaults, err := fs.ReadFile(chart, "values.yaml")
	if err != nil {
		return nil, err
	}
	files, err := fs.Glob(chart, prefix+"seed-*"+suffix)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, errors.New("the chart has no values-seed-*.yaml")
	}
	presets := make([]Preset, 0, len(files))
	for _, file := range files {
		text, err := fs.ReadFile(chart, file)
		if err != nil {
			return nil, err
		}
		p, err := preset(defaults, text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		p.File, p.Name = file, strings.TrimSuffix(strings.TrimPrefix(file, prefix), suffix)
		presets = append(presets, p)
	}
	markDisturbed(presets)
	return presets, nil
}

// preset merges the second text over the first, as Helm does: keys absent from the
// second keep their values.
func preset(defaults, text []byte) (Preset, error) {
	var v values
	for _, t := range [][]byte{defaults, text} {
		if err := yaml.Unmarshal(t, &v); err != nil {
			return Preset{}, err
		}
	}
	var found []Preset
	for kind, s := range map[Service]service{Shortener: v.Shortener.service, EventStore: v.EventStore.service, RateLimiter: v.RateLimiter.service} {
		if s.Enabled {
			found = append(found, Preset{Service: kind, Host: s.Service.Name, Port: s.Service.Port, Replicas: s.Replicas})
		}
	}
	if len(found) != 1 {
		return Preset{}, fmt.Errorf("%d services are enabled: a preset has one", len(found))
	}
	p := found[0]
	switch p.Service {
	case Shortener:
		p.API, p.Clicks = v.Shortener.API, v.Shortener.Clicks.Mode
	case RateLimiter:
		p.Strategy, p.Capacity, p.RefillPerSecond = v.RateLimiter.Strategy, v.RateLimiter.Capacity, v.RateLimiter.RefillPerSecond
	}
	return p, nil
}

// markDisturbed chooses for each service the preset in which a pod is killed: the
// first of the most demanding ones.
func markDisturbed(presets []Preset) {
	chosen := map[Service]int{}
	for i, p := range presets {
		if best, ok := chosen[p.Service]; !ok || p.demand() > presets[best].demand() {
			chosen[p.Service] = i
		}
	}
	for _, i := range chosen {
		presets[i].Disturbed = true
	}
}

// CountsClicks says whether the shortener counts its redirects.
func (p Preset) CountsClicks() bool { return p.Clicks != "" && p.Clicks != "none" }

// Victims are the components with a pod that is killed in the middle of the run:
// the service of a disturbed preset and, with queued clicks, the consumer. It may
// lose none of them, nor count one twice.
func (p Preset) Victims() (components []string) {
	if p.Disturbed {
		components = append(components, "app")
	}
	if p.Clicks == "redis" || p.Clicks == "kafka" {
		components = append(components, "clicks")
	}
	return components
}

// demand is how much a preset promises to a client whose pod is killed: other
// replicas, clicks that are stored when the redirect is answered or wait outside
// of the pod, a contract without a flaw.
func (p Preset) demand() (n int) {
	if p.Replicas > 1 {
		n++
	}
	if p.Clicks == "sync" || p.Clicks == "redis" {
		n++
	}
	if _, flawed := flaws[p.Strategy]; p.Service == RateLimiter && !flawed {
		n++
	}
	return n
}
