package targetstate

import (
	"encoding/json"
	"slices"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

const (
	// MaxSize is what status.environment takes at most, in bytes of JSON.
	MaxSize = 12 << 10
	// maxNodes bounds its lists of nodes.
	maxNodes = 32
	// MaxStepSize is what the environment of a step takes at most.
	MaxStepSize = 2*620 + maxChanges*(maxChange+120)
)

// Record writes a reading into the status: into its step, and what is new of it into the
// run's environment. nodes are those of the workers. The changes of a step follow once its
// last reading is there.
func Record(status *v1beta1.LoadTestStatus, seen *Seen, nodes []string) {
	step := &status.Steps[seen.Step]
	if step.Environment == nil {
		step.Environment = &v1beta1.StepEnvironment{}
	}
	env := status.Environment.DeepCopy()
	status.Environment = env
	if seen.Problem == "" {
		add(env, seen)
		share(env, seen, nodes)
	}
	switch seen.Point {
	case Before:
		step.Environment.Before = seen.reading()
	case After:
		step.Environment.After = seen.reading()
		step.Environment.Changes = changes(status, seen)
		if seen.Usage != nil {
			step.Environment.Usage = seen.limited(step).status()
		}
	}
}

// add adds the configuration, if it is new and there is room for it.
func add(env *v1beta1.EnvironmentStatus, seen *Seen) {
	c := seen.configuration()
	known := slices.ContainsFunc(env.Configurations, func(o v1beta1.TargetConfiguration) bool { return o.ID == c.ID })
	const most = 16
	if c.ID == "" || known || len(env.Configurations) == most || sizeOf(env)+sizeOf(c) > MaxSize {
		return
	}
	env.Configurations = append(env.Configurations, c)
}

// share adds the nodes of the target, and those that it shares with workers.
func share(env *v1beta1.EnvironmentStatus, seen *Seen, nodes []string) {
	for _, pod := range seen.Pods {
		if pod.Node == "" || slices.Contains(env.Nodes, pod.Node) || len(env.Nodes) == maxNodes || sizeOf(env)+2*len(pod.Node) > MaxSize {
			continue
		}
		env.Nodes = append(env.Nodes, pod.Node)
		n := int32(0)
		for _, node := range nodes {
			if node == pod.Node {
				n++
			}
		}
		if n > 0 {
			env.SharedNodes = append(env.SharedNodes, v1beta1.SharedNode{Node: pod.Node, Workers: n})
		}
	}
}

func sizeOf(v any) int {
	raw, err := json.Marshal(v)
	if err != nil {
		return MaxSize // not reached: it is of strings and numbers
	}
	return len(raw)
}
