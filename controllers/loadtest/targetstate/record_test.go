package targetstate_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetstate"
)

var began = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// pod is one of a single container, whose image has that digest.
func pod(uid, digest string, restarts int32) targetstate.Pod {
	c := targetstate.Container{TargetContainer: v1alpha1.TargetContainer{Name: "app", Image: "shortener:v3", Digest: digest, Limits: "cpu 500m"}, Restarts: restarts}
	if restarts > 0 {
		c.Ended, c.EndedAt = "OOMKilled, exit code 137", began
	}
	return targetstate.Pod{UID: uid, Node: "node-1", Ready: true, Containers: []targetstate.Container{c}}
}

func limited(p targetstate.Pod, limits string) targetstate.Pod {
	p.Containers[0].Limits = limits
	return p
}

func of(p targetstate.Pod, template string) targetstate.Pod {
	p.Template = template
	return p
}

func pods(list ...targetstate.Pod) targetstate.Seen { return targetstate.Seen{Pods: list} }

func scaled(s targetstate.Seen, most int32) targetstate.Seen {
	s.Autoscaler = &v1alpha1.TargetAutoscaler{Name: "web", Min: 1, Max: most}
	return s
}

// run records the readings of steps a, b, …: before and after each.
func run(readings ...targetstate.Seen) *v1alpha1.LoadTestStatus {
	status := &v1alpha1.LoadTestStatus{Environment: &v1alpha1.EnvironmentStatus{}}
	for i := range readings {
		if i%2 == 0 {
			status.Steps = append(status.Steps, v1alpha1.StepStatus{Name: string(rune('a' + i/2))})
		}
		seen := readings[i]
		seen.Service, seen.At = "shortener", began.Add(time.Duration(i)*time.Second)
		seen.Look = targetstate.Look{Step: i / 2, Point: targetstate.Point(i % 2)}
		targetstate.Record(status, &seen, []string{"node-1", "node-2", "node-1"})
	}
	return status
}

func TestChangesOfATarget(t *testing.T) {
	one, two := pods(pod("1", "sha256:aaa", 0)), pods(pod("1", "sha256:aaa", 0), pod("2", "sha256:aaa", 0))
	half := pods(pod("2", "sha256:aaa", 0))
	half.Pods[0].Containers = append(half.Pods[0].Containers, pod("2", "", 0).Containers...)
	unread := targetstate.Seen{Problem: "The operator may not read the pods."}
	starting := pods(pod("2", "", 0))
	three, surge := func(last targetstate.Pod) targetstate.Seen {
		return pods(of(pod("1", "sha256:aaa", 0), "5f7"), of(pod("2", "sha256:aaa", 0), "5f7"), last)
	}, of(pod("4", "", 0), "6c8")
	steady := three(of(pod("3", "sha256:aaa", 0), "5f7"))
	surging := pods(append(slices.Clone(steady.Pods), surge)...)
	growing := pods(append(slices.Clone(steady.Pods), of(pod("4", "", 0), "5f7"))...)
	for name, tc := range map[string]struct {
		readings []targetstate.Seen
		want     []string // of all steps
	}{
		"nothing changes":             {[]targetstate.Seen{one, one, one, one}, nil},
		"a container restarts":        {[]targetstate.Seen{one, pods(pod("1", "sha256:aaa", 2))}, []string{"TargetRestarted : Containers of Service shortener restarted 2 times within step a, the last after OOMKilled, exit code 137."}},
		"it restarts between steps":   {[]targetstate.Seen{one, one, pods(pod("1", "sha256:aaa", 1)), pods(pod("1", "sha256:aaa", 1))}, []string{"TargetRestarted : Containers of Service shortener restarted once between step a and step b, the last after OOMKilled, exit code 137."}},
		"a pod is replaced":           {[]targetstate.Seen{one, pods(pod("2", "sha256:aaa", 0))}, []string{"TargetReplaced : Pods of Service shortener were replaced within step a by others of the same images and limits."}},
		"by one of its template":      {[]targetstate.Seen{pods(of(pod("1", "sha256:aaa", 0), "5f7")), pods(of(pod("2", "sha256:aaa", 0), "5f7"))}, []string{"TargetReplaced : Pods of Service shortener were replaced within step a by others of the same template."}},
		"by one of another":           {[]targetstate.Seen{pods(of(pod("1", "sha256:aaa", 0), "5f7")), pods(of(pod("2", "sha256:aaa", 0), "6c8"))}, []string{otherTemplate}},
		"half of them by another":     {[]targetstate.Seen{pods(of(pod("1", "sha256:aaa", 0), "5f7"), of(pod("2", "sha256:aaa", 0), "5f7")), pods(of(pod("1", "sha256:aaa", 0), "5f7"), of(pod("3", "sha256:aaa", 0), "6c8"))}, []string{otherTemplate}},
		"it is scaled":                {[]targetstate.Seen{one, two}, []string{"TargetScaled Step: Service shortener went from 1 to 2 pods within step a, and no autoscaler is known to have done it."}},
		"it is scaled between steps":  {[]targetstate.Seen{two, two, one, one}, []string{"TargetScaled Run: Service shortener went from 2 to 1 pod between step a and step b, and no autoscaler is known to have done it."}},
		"it is scaled automatically":  {[]targetstate.Seen{scaled(one, 9), scaled(two, 9)}, []string{"TargetScaled : Service shortener went from 1 to 2 pods within step a, by its autoscaler web (1 to 9)."}},
		"its autoscaler is changed":   {[]targetstate.Seen{scaled(one, 9), scaled(two, 5)}, []string{"TargetReconfigured Step: What Service shortener runs was changed within step a: the bounds of its autoscaler.", "TargetScaled Step: Service shortener went from 1 to 2 pods within step a, and no autoscaler is known to have done it."}},
		"a rollout within a step":     {[]targetstate.Seen{one, pods(pod("2", "sha256:bbb", 0))}, []string{"TargetReconfigured Step: What Service shortener runs was changed within step a: the image of container app was sha256:aaa and is sha256:bbb."}},
		"a rollout between steps":     {[]targetstate.Seen{one, one, pods(pod("2", "sha256:bbb", 0)), pods(pod("2", "sha256:bbb", 0))}, []string{"TargetReconfigured Run: What Service shortener runs was changed between step a and step b: the image of container app was sha256:aaa and is sha256:bbb."}},
		"other limits":                {[]targetstate.Seen{one, pods(limited(pod("1", "sha256:aaa", 0), ""))}, []string{"TargetReconfigured Step: What Service shortener runs was changed within step a: the limits of container app were cpu 500m and are none."}},
		"a pod that has not started":  {[]targetstate.Seen{one, starting}, []string{"TargetReplaced : Pods of Service shortener were replaced within step a; what the new ones run is not known yet."}},
		"a pod that starts":           {[]targetstate.Seen{one, half}, []string{"TargetReplaced : Pods of Service shortener were replaced within step a; what the new ones run is not known yet."}},
		"a rollout is under way":      {[]targetstate.Seen{steady, three(surge)}, []string{someOfAnotherTemplate}},
		"it began between steps":      {[]targetstate.Seen{steady, steady, three(surge), three(surge)}, []string{strings.NewReplacer(" Step:", " Run:", "within step a", "between step a and step b").Replace(someOfAnotherTemplate)}},
		"it has more pods meanwhile":  {[]targetstate.Seen{scaled(steady, 9), scaled(surging, 9)}, []string{someOfAnotherTemplate, "TargetScaled Step: Service shortener went from 3 to 4 pods within step a, and no autoscaler is known to have done it."}},
		"the autoscaler adds a pod":   {[]targetstate.Seen{scaled(steady, 9), scaled(growing, 9)}, []string{"TargetScaled : Service shortener went from 3 to 4 pods within step a, by its autoscaler web (1 to 9)."}},
		"its only pod is rolled":      {[]targetstate.Seen{pods(of(pod("1", "sha256:aaa", 0), "5f7")), pods(surge)}, []string{someOfAnotherTemplate}},
		"its only pod is moved":       {[]targetstate.Seen{pods(of(pod("1", "sha256:aaa", 0), "6c8")), pods(surge)}, []string{"TargetReplaced : Pods of Service shortener were replaced within step a; what the new ones run is not known yet."}},
		"nothing can be read":         {[]targetstate.Seen{unread, unread, unread, unread}, nil},
		"not read after":              {[]targetstate.Seen{one, unread, two, two}, []string{"TargetScaled Run: Service shortener went from 1 to 2 pods between step a and step b, and no autoscaler is known to have done it."}},
		"not read before, and scaled": {[]targetstate.Seen{one, one, unread, two}, []string{"TargetScaled Step: Service shortener went from 1 to 2 pods between step a and the end of step b, and no autoscaler is known to have done it."}},
		"read only at the end":        {[]targetstate.Seen{unread, two}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, step := range run(tc.readings...).Steps {
				for _, c := range step.Environment.Changes {
					got = append(got, fmt.Sprintf("%s %s: %s", c.Reason, c.Spoils, c.Message))
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

const otherTemplate = "TargetReconfigured Step: What Service shortener runs was changed within step a: the template of its pods is another one, in more than images and limits."

const someOfAnotherTemplate = "TargetReconfigured Step: What Service shortener runs was changed within step a: some of its pods are of another template."

// A first reading that comes long after a step began is not of its beginning: what changed
// before it may have changed within the step.
func TestLateFirstReadingLeavesTheStepInDoubt(t *testing.T) {
	for late, want := range map[time.Duration]v1alpha1.Spoiled{time.Second: v1alpha1.SpoiledRun, 3 * time.Second: v1alpha1.SpoiledStep} {
		status := run(pods(pod("1", "sha256:aaa", 0)), pods(pod("1", "sha256:aaa", 0)))
		start := metav1.NewMicroTime(began)
		status.Steps = append(status.Steps, v1alpha1.StepStatus{Name: "b", StartTime: &start})
		for point, at := range []time.Time{began.Add(late), began.Add(time.Minute)} {
			seen := pods(pod("2", "sha256:bbb", 0))
			seen.Look, seen.At = targetstate.Look{Step: 1, Point: targetstate.Point(point)}, at
			targetstate.Record(status, &seen, nil)
		}
		if changes := status.Steps[1].Environment.Changes; len(changes) != 1 || changes[0].Spoils != want {
			t.Errorf("%v late: %+v, want one that spoils the %s", late, changes, want)
		}
	}
}

// Steps of two targets in turn are compared with those of the same side alone.
func TestSidesAreComparedApart(t *testing.T) {
	status := &v1alpha1.LoadTestStatus{Environment: &v1alpha1.EnvironmentStatus{}, Steps: []v1alpha1.StepStatus{
		{Name: "a", Side: v1alpha1.SideCandidate}, {Name: "a/old", Side: v1alpha1.SideControl}, {Name: "b", Side: v1alpha1.SideCandidate},
	}}
	for i := range status.Steps {
		for point := range 2 {
			seen := pods(pod("1", fmt.Sprintf("sha256:%d", i%2), 0))
			seen.Look = targetstate.Look{Step: i, Point: targetstate.Point(point)}
			targetstate.Record(status, &seen, nil)
		}
		if changes := status.Steps[i].Environment.Changes; len(changes) > 0 {
			t.Errorf("step %s: %+v, want no change", status.Steps[i].Name, changes)
		}
	}
}

func TestNodesAndConfigurationsAreWrittenOnce(t *testing.T) {
	two := pods(pod("1", "sha256:aaa", 0), pod("2", "sha256:aaa", 0))
	two.Pods[1].Node = "node-3"
	status := run(two, two, two, two)
	env := status.Environment
	want := v1alpha1.EnvironmentStatus{
		Nodes: []string{"node-1", "node-3"}, SharedNodes: []v1alpha1.SharedNode{{Node: "node-1", Workers: 2}},
		Configurations: []v1alpha1.TargetConfiguration{{ID: env.Configurations[0].ID, Service: "shortener", Containers: []v1alpha1.TargetContainer{{Name: "app", Image: "shortener:v3", Digest: "sha256:aaa", Limits: "cpu 500m"}}}},
	}
	if diff := cmp.Diff(&want, env); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
	r := status.Steps[1].Environment.After
	if r.Configuration != want.Configurations[0].ID || r.Pods != 2 || r.Ready != 2 || r.Identity == "" {
		t.Errorf("the reading is %+v", r)
	}
}

// However a target changes, its environment stays within the room that is planned for it.
func TestEnvironmentStaysWithinItsRoom(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	var readings []targetstate.Seen
	for i := range 128 {
		seen := targetstate.Seen{Problem: ""}
		for p := range 100 {
			one := pod(fmt.Sprint(i, p), fmt.Sprint(i)+long(120), int32(i))
			one.Node, one.Template = fmt.Sprint(p)+long(240), fmt.Sprint(p)+long(60)
			for c := range 20 {
				another := one.Containers[0]
				another.Name, another.Image, another.Limits, another.Ended = fmt.Sprint(c)+long(60), long(256), long(128), long(80)
				one.Containers = append(one.Containers, another)
			}
			seen.Pods = append(seen.Pods, one)
		}
		seen.Pods = seen.Pods[:100-i%2]
		readings = append(readings, seen)
	}
	readings[4] = targetstate.Seen{Problem: long(2000)}
	status := run(readings...)
	if got := size(t, status.Environment); got > targetstate.MaxSize {
		t.Errorf("the environment takes %d bytes, %d are planned", got, targetstate.MaxSize)
	}
	for i, step := range status.Steps {
		if got := size(t, step.Environment); got > targetstate.MaxStepSize {
			t.Errorf("that of step %d takes %d bytes, %d are planned", i, got, targetstate.MaxStepSize)
		}
	}
}

func size(t *testing.T, v any) int {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return len(raw)
}
