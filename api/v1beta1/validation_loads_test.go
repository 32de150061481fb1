package v1beta1_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// loadsValidations are about loads side by side.
var loadsValidations = []validation{
	{name: "loads beside steps", valid: "{steps: null, loads: [" + oneLoad + "]}",
		invalid: "{loads: [" + oneLoad + "]}",
		want:    []string{"spec: Invalid value: exactly one of ladder, steps, search, replay and loads must be set"}},
	{name: "loads with parallelism of all", valid: "{steps: null, loads: [{name: a, parallelism: 3, steps: [{name: s, rate: 1, duration: 1s}]}]}",
		invalid: "{steps: null, parallelism: 3, loads: [" + oneLoad + "]}",
		want:    []string{"spec.loads: Forbidden: loads must not be set with baseline, versus, audits or repetitions, or with parallelism, which each load has"}},
	{name: "loads with repetitions", valid: "{steps: null, repetitions: 1, loads: [" + oneLoad + "]}",
		invalid: "{steps: null, repetitions: 2, loads: [" + oneLoad + "]}",
		want:    []string{"spec.loads: Forbidden: loads must not be set with baseline, versus, audits or repetitions, or with parallelism, which each load has"}},
	{name: "a load without a load", valid: "{steps: null, loads: [{name: a, search: {users: {min: 1, max: 2}, duration: 1s}}]}",
		invalid: "{steps: null, loads: [{name: a}]}",
		want:    []string{"spec.loads[0]: Invalid value: exactly one of ladder, steps and search must be set in a load"}},
	{name: "a load with a ladder and steps", valid: "{steps: null, loads: [{name: a, ladder: {users: [1, 2], duration: 1s, think: {min: 1s, max: 2s}, rest: 1s, stopOnBreach: true}}]}",
		invalid: "{steps: null, loads: [{name: a, ladder: {users: [1], duration: 1s}, steps: [{name: s, rate: 1, duration: 1s}]}]}",
		want:    []string{"spec.loads[0]: Invalid value: exactly one of ladder, steps and search must be set in a load"}},
	{name: "requests of a load", valid: "{requests: [{name: r, http: {}}], steps: null, loads: [{name: a, requests: [r], steps: [{name: s, rate: 1, duration: 1s}]}]}",
		invalid: "{requests: [{name: r, http: {}}], steps: null, loads: [{name: a, requests: [x], steps: [{name: s, rate: 1, duration: 1s}]}]}",
		want:    []string{"spec.loads: Invalid value: requests of a load must be names of spec.requests"}},
	{name: "journeys of a load", valid: "{requests: [{name: r, http: {}}], journeys: [{name: j, steps: [{request: r}]}], steps: null, loads: [{name: a, journeys: [j], steps: [{name: s, rate: 1, duration: 1s}]}]}",
		invalid: "{requests: [{name: r, http: {}}], steps: null, loads: [{name: a, journeys: [j], steps: [{name: s, rate: 1, duration: 1s}]}]}",
		want:    []string{"spec.loads: Invalid value: journeys of a load must be names of spec.journeys"}},
	{name: "after of a load", valid: "{steps: null, loads: [" + oneLoad + ", {name: b, after: a, steps: [{name: s, rate: 1, duration: 1s}]}]}",
		invalid: "{steps: null, loads: [" + oneLoad + ", {name: b, after: c, steps: [{name: s, rate: 1, duration: 1s}]}]}",
		want:    []string{"spec.loads: Invalid value: after of a load must be the name of one of spec.loads"}},
	{name: "a load after itself", valid: "{steps: null, loads: [" + oneLoad + "]}",
		invalid: "{steps: null, loads: [{name: b, after: b, steps: [{name: s, rate: 1, duration: 1s}]}]}",
		want:    []string{"spec.loads[0].after: Invalid value: after must be the name of another load"}},
	{name: "a search in the background", valid: "{steps: null, loads: [{name: b, background: true, steps: [{name: s, rate: 1, duration: 1s}]}]}",
		invalid: "{steps: null, loads: [{name: b, background: true, search: {users: {min: 1, max: 2}, duration: 1s}}]}",
		want:    []string{"spec.loads[0].background: Forbidden: background must not be set with search, which looks for a load of its own"}},
	{name: "delay of a load", valid: "{steps: null, loads: [{name: b, delay: 1h, steps: [{name: s, rate: 1, duration: 1s}]}]}",
		invalid: "{steps: null, loads: [{name: b, delay: 61m, steps: [{name: s, rate: 1, duration: 1s}]}]}",
		want:    []string{"spec.loads[0].delay: Invalid value: \"61m\": delay must be a time from 0s to 1h, such as 30s"}},
	{name: "name of a load", valid: "{steps: null, loads: [{name: a-1, steps: [{name: s, rate: 1, duration: 1s}]}]}",
		invalid: "{steps: null, loads: [{name: A, steps: [{name: s, rate: 1, duration: 1s}]}]}",
		want:    []string{"spec.loads[0].name: Invalid value: \"A\": spec.loads[0].name in body should match '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$'"}},
	{name: "steps of a load that are all pauses", valid: "{steps: null, loads: [{name: a, steps: [{name: p, pause: 1s}, {name: s, rate: 1, duration: 1s}]}]}",
		invalid: "{steps: null, loads: [{name: a, steps: [{name: p, pause: 1s}]}]}",
		want:    []string{"spec.loads[0].steps: Invalid value: steps must not all be pauses"}},
	{name: "loads of a threshold", valid: "{steps: null, loads: [" + oneLoad + "], thresholds: [{metric: p95, max: 1s, loads: [a]}]}",
		invalid: "{steps: null, loads: [" + oneLoad + "], thresholds: [{metric: p95, max: 1s, loads: [b]}]}",
		want:    []string{"spec.thresholds: Invalid value: loads of a threshold must be names of spec.loads"}},
}

const oneLoad = "{name: a, steps: [{name: s, rate: 1, duration: 1s}]}"

// inALoad are the rows about a ladder, steps or a search, with these in a load: what holds for one load
// holds for each of several.
func inALoad(rows []validation) (list []validation) {
	for _, row := range rows {
		moved := row
		moved.name += " in a load"
		moved.valid, moved.invalid, moved.want = movedIntoALoad(row.valid), movedIntoALoad(row.invalid), nil
		for _, sentence := range row.want {
			field, _, _ := strings.Cut(sentence, ":")
			for _, part := range []string{"spec.ladder", "spec.steps[", "spec.search"} {
				if strings.HasPrefix(field, part) {
					moved.want = append(moved.want, "spec.loads[0]."+strings.TrimPrefix(strings.ReplaceAll(sentence, " spec.", " spec.loads[0]."), "spec."))
				}
			}
		}
		if len(row.want) > 0 && len(moved.want) == len(row.want) {
			list = append(list, moved)
		}
	}
	return list
}

// movedIntoALoad has a ladder, steps or a search in the only load.
func movedIntoALoad(patch string) string {
	var spec map[string]any
	if err := yaml.Unmarshal([]byte(patch), &spec); err != nil {
		panic(err)
	}
	load := map[string]any{"name": "a"}
	for _, field := range []string{"ladder", "steps", "search"} {
		if spec[field] != nil {
			load[field] = spec[field]
		}
	}
	moved := maps.Clone(spec)
	moved["ladder"], moved["steps"], moved["search"], moved["loads"] = nil, nil, nil, []any{load}
	out, err := json.Marshal(moved)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// The LoadTest of a load has a Job of its name, too.
func TestNamesOfLoadsFitPods(t *testing.T) {
	c, namespace := strictClient(t), apiserver.Namespace(t)
	for length, want := range map[int][]string{21: nil, 22: {tooLongLoad}} {
		object := patched(t, base, namespace, "{steps: null, loads: [{name: "+strings.Repeat("l", 30)+", steps: [{name: s, rate: 1, duration: 1s}]}]}")
		object.SetName(strings.Repeat("n", length))
		same.As(t, "refusals", want, refusals(t, c.Create(t.Context(), object, client.DryRunAll)))
	}
}

const tooLongLoad = "metadata: Invalid value: name, and the name of each load, must be at most 51 characters together: they are the name of the load's LoadTest"
