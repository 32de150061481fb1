//go:build e2e

package abuse

import (
	"strings"
	"testing"
)

// limitAbuses are larger than the operator's defaults accept, or ask for pods that no
// rule of its configuration allows.
var limitAbuses = []abuse{
	{"more users than a step may have", operator, "200000 users are more than", takes("steps: [{name: 200000 users, users: 200000, ratePerUser: '0.1', duration: 10s}]")},
	{"more requests a second than a step may plan", operator, "requests per second are more than", takes("steps: [{name: 200000/s, rate: 200000, duration: 1s}]")},
	{"more requests a second in the last rung of a ladder", operator, "spec.ladder.", takes("steps: null\nladder: {rates: [1, 200000], duration: 1s}")},
	{"more requests a second at the end of a ramp", operator, "requests per second are more than", takes("steps: [{name: 1/s to 200000/s, rate: 1, rampTo: 200000, duration: 10s}]")},
	{"more workers than a LoadTest may have", operator, "500 workers are more than", takes("parallelism: 500")},
	{"a longer run, by its steps", operator, "longer than", takes("steps: [{name: 1/s, rate: 1, duration: 20h}, {name: 1/s (2), rate: 1, duration: 20h}]")},
	{"a longer run, by its repetitions", operator, "longer than", takes("repetitions: 10\nsteps: [{name: 1/s, rate: 1, duration: 20h}]")},
	{"more bytes a second than a step may plan", operator, "a second, which is more", takes("requests: [{name: create, http: {path: /, method: POST, body: '" + strings.Repeat("x", 60_000) + "'}}]\nsteps: [{name: 90000/s, rate: 90000, duration: 1s}]")},

	{"an image of one's own for the workers", operator, "spec.worker.image: evil.example.com/worker:v1 is not allowed", takes("worker: {image: 'evil.example.com/worker:v1'}")},
	{"an image that is a command", operator, "spec.worker.image", takes(`worker: {image: "a; rm -rf /"}`)},
	{"a node by its name, through a label", operator, "label kubernetes.io/hostname is not allowed", takes("worker: {nodeSelector: {kubernetes.io/hostname: node-1}}")},
	{"a node of the control plane, through a label", operator, "label node-role.kubernetes.io/control-plane is not allowed", takes("worker: {nodeSelector: {node-role.kubernetes.io/control-plane: ''}}")},
	{"every taint", operator, "every taint is not allowed", takes("worker: {tolerations: [{operator: Exists}]}")},
	{"the taint of the control plane", operator, "taint node-role.kubernetes.io/control-plane is not allowed", takes("worker: {tolerations: [{key: node-role.kubernetes.io/control-plane, operator: Exists, effect: NoSchedule}]}")},
	{"a place before others by a priority class of one's own", operator, "priorityClass", takes("queue: {priorityClass: first}")},
	{"a processor for graphics", operator, "nvidia.com/gpu", takes("worker: {resources: {limits: {nvidia.com/gpu: '1'}}}")},
}

// takes runs a LoadTest with those fields.
func takes(fields string) func(*testing.T, *people) attempt {
	return func(t *testing.T, p *people) attempt {
		t.Helper()
		return p.attacker.apply(t, specWith(fields))
	}
}
