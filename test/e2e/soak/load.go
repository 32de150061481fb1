package soak

import (
	"fmt"
	"maps"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// loads are small: one or two users, or five requests a second. Of the arguments the
// first is the path of the requests, under which the target counts them, and the second
// how many seconds the load takes. No run waits for its start for long, so that none can
// pass for stuck that waits for what will not come.
var loads = map[string]string{
	"users":       counted + `steps: [{name: 2 users, users: 2, ratePerUser: 2, duration: %[2]ds}]`,
	"user":        counted + `steps: [{name: 1 users, users: 1, ratePerUser: 4, duration: %[2]ds}]`,
	"arrivals":    counted + `steps: [{name: 5/s, rate: 5, duration: %[2]ds}]`,
	"random":      counted + `steps: [{name: 4/s to 8/s, rate: 4, rampTo: 8, arrivals: Poisson, duration: %[2]ds}]`,
	"burst":       counted + `steps: [{name: 2 users x 5, users: 2, requestsPerUser: 5}, {name: pause 1s, pause: 1s}, {name: 2 users x 5 (2), users: 2, requestsPerUser: 5}]`,
	"ladder":      counted + `ladder: {users: [1, 2], ratePerUser: 2, duration: %[2]ds, rest: 1s}`,
	"three steps": counted + `steps: [{name: 5/s, rate: 5, duration: 2s}, {name: 6/s, rate: 6, duration: 2s}, {name: 7/s, rate: 7, duration: %[2]ds}]`,
	"two workers": counted + `
parallelism: 2
steps: [{name: 2 users, users: 2, ratePerUser: 3, duration: %[2]ds}]`,
	"search": counted + `
search: {rate: {min: 2, max: 8}, duration: 2s, precision: 50%%, hold: 2s}
thresholds: [{metric: failureRate, max: 1%%}]`,
	"journey": base + `
requests: [{name: look, http: {path: "/%[1]s"}}, {name: buy, http: {path: "/%[1]s"}}]
journeys: [{name: shop, steps: [{request: look}, {think: {min: 100ms, max: 300ms}}, {request: buy}]}]
steps: [{name: 1 users x 6, users: 1, requestsPerUser: 6}]`,
	"audit": base + `
requests: [{name: write, http: {path: "/%[1]s?stores=1"}}]
audits: [{name: stored, stored: {read: {http: {path: "/%[1]s/stored"}}, value: .stored, requests: [write], stableFor: 1s, maxWait: 10s}}]
steps: [{name: 5/s, rate: 5, duration: %[2]ds}]`,
	"removed": counted + `
ttlSecondsAfterFinished: 3
steps: [{name: 5/s, rate: 5, duration: %[2]ds}]`,
	"deadline": counted + `
activeDeadlineSeconds: 8
steps: [{name: 5/s, rate: 5, duration: 20s}]`,
	"wrong path": base + `
requests: [{name: home, http: {path: "/"}}]
steps: [{name: 5/s, rate: 5, duration: 2s}]`,
	"refused target": `
target: {url: "http://not-allowed.example.com"}
requests: [{name: home, http: {path: "/%[1]s"}}]
steps: [{name: 5/s, rate: 5, duration: 2s}]`,
	"unknown target": `
target: {service: {name: not-there}}
requests: [{name: home, http: {path: "/%[1]s"}}]
startDeadlineSeconds: 15
steps: [{name: 5/s, rate: 5, duration: 2s}]`,
	"missing body": `
target: {service: {name: counter}}
requests: [{name: create, http: {method: POST, path: "/%[1]s", bodyFrom: {configMap: {name: not-there, key: body}}}}]
startDeadlineSeconds: 15
steps: [{name: 5/s, rate: 5, duration: 2s}]`,
}

const (
	base = `
target: {service: {name: counter}, timeout: 5s}
startDeadlineSeconds: 90`
	counted = base + `
requests: [{name: home, http: {path: "/%[1]s"}}]
`
)

// Loads are the names of all loads.
func Loads() []string { return slices.Sorted(maps.Keys(loads)) }

// Spec is that of a LoadTest with the load, whose requests the target counts under path.
func Spec(load, path string, seconds int) (spec v1beta1.LoadTestSpec, err error) {
	text := fmt.Sprintf(loads[load]+"\n# %[1]s %[2]d", path, seconds) // both are used in each
	if err := yaml.UnmarshalStrict([]byte(text), &spec); err != nil {
		return spec, fmt.Errorf("load %s: %w", load, err)
	}
	return spec, nil
}
