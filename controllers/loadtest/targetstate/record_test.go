package targetstate_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetstate"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var began = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// pod is one of a single container, whose image has that digest.
func pod(uid, digest string, restarts int32) targetstate.Pod {
	c := targetstate.Container{TargetContainer: v1beta1.TargetContainer{Name: "app", Image: "shortener:v3", Digest: digest, Limits: "cpu 500m"}, Restarts: restarts}
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
	s.Autoscaler = &v1beta1.TargetAutoscaler{Name: "web", Min: 1, Max: most}
	return s
}

// run records the readings of steps a, b, …: before and after each.
func run(readings ...targetstate.Seen) *v1beta1.LoadTestStatus {
	status := &v1beta1.LoadTestStatus{Environment: &v1beta1.EnvironmentStatus{}}
	for i := range readings {
		if i%2 == 0 {
			status.Steps = append(status.Steps, v1beta1.StepStatus{Name: string(rune('a' + i/2))})
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
	sidecar, renamed, unended := pods(pod("1", "sha256:aaa", 0)), pods(pod("1", "sha256:aaa", 0)), pods(pod("1", "sha256:aaa", 1))
	sidecar.Pods[0].Containers = append(sidecar.Pods[0].Containers, pod("1", "sha256:ccc", 0).Containers...)
	sidecar.Pods[0].Containers[1].Name = "side"
	renamed.Pods[0].Containers[0].Image = "mirror/shortener:v3"
	unended.Pods[0].Containers[0].Ended = ""
	ended := pods(pod("1", "sha256:aaa", 2), pod("2", "sha256:aaa", 1), pod("3", "sha256:aaa", 0))
	ended.Pods[0].Containers[0].Ended, ended.Pods[0].Containers[0].EndedAt = "Error, exit code 1", began.Add(time.Second)
	ended.Pods[2].Containers[0].EndedAt = began.Add(time.Minute)
	both := []targetstate.Pod{of(sidecar.Pods[0], "5f7"), of(pod("2", "sha256:aaa", 0), "6c8"), pod("3", "sha256:ddd", 0)}
	turned := slices.Clone(both)
	slices.Reverse(turned)
	many := pods(one.Pods[0])
	many.Unread = 3
	for name, tc := range map[string]struct {
		readings []targetstate.Seen
		want     []string // of all steps
	}{
		"a container is new":          {[]targetstate.Seen{one, sidecar}, []string{changed + ": container side is new."}},
		"a container is gone":         {[]targetstate.Seen{sidecar, one}, []string{changed + ": they have fewer containers."}},
		"its image has another name":  {[]targetstate.Seen{one, renamed}, []string{changed + ": the name of the image of container app."}},
		"it is read in another order": {[]targetstate.Seen{pods(both...), pods(turned...)}, nil},
		"it restarts as it is replaced": {[]targetstate.Seen{pods(pod("1", "sha256:aaa", 1)), pods(pod("2", "sha256:aaa", 3))}, []string{
			"TargetRestarted : Containers of Service shortener restarted at least 2 times during step a, the last after OOMKilled, exit code 137.",
			"TargetReplaced : Pods of Service shortener were replaced during step a by pods with the same images and limits.",
		}},
		"the last that ended is named": {[]targetstate.Seen{pods(pod("1", "sha256:aaa", 0), pod("2", "sha256:aaa", 0), pod("3", "sha256:aaa", 0)), ended}, []string{"TargetRestarted : Containers of Service shortener restarted 3 times during step a, the last after Error, exit code 1."}},
		"it is not known how it ended": {[]targetstate.Seen{one, unended}, []string{"TargetRestarted : Containers of Service shortener restarted once during step a."}},
		"what spoils the step is first": {[]targetstate.Seen{one, one, pods(pod("2", "sha256:aaa", 0)), pods(pod("2", "sha256:bbb", 0))}, []string{
			"TargetReconfigured Step: The pods of Service shortener were changed during step b: the image of container app was sha256:aaa and is sha256:bbb.",
			"TargetReplaced : Pods of Service shortener were replaced between step a and step b by pods with the same images and limits.",
		}},
		"more pods than are read":      {[]targetstate.Seen{one, many}, []string{"TargetScaled Step: Service shortener was scaled from 1 to 4 pods during step a, not by a known autoscaler."}},
		"one of two has no template":   {[]targetstate.Seen{pods(of(pod("1", "sha256:aaa", 0), "5f7"), pod("2", "sha256:aaa", 0)), pods(of(pod("1", "sha256:aaa", 0), "5f7"), of(pod("3", "sha256:aaa", 0), "5f7"))}, []string{"TargetReplaced : Pods of Service shortener were replaced during step a by pods with the same template."}},
		"the first has no template":    {[]targetstate.Seen{one, pods(surge)}, []string{"TargetReplaced : Pods of Service shortener were replaced during step a; it is not known yet what the new ones run."}},
		"it is scaled as it starts":    {[]targetstate.Seen{one, pods(pod("1", "", 0), pod("2", "", 0))}, []string{"TargetScaled Step: Service shortener was scaled from 1 to 2 pods during step a, not by a known autoscaler."}},
		"its pod starts anew":          {[]targetstate.Seen{one, pods(pod("1", "", 0))}, nil},
		"one that started is replaced": {[]targetstate.Seen{starting, one}, []string{"TargetReplaced : Pods of Service shortener were replaced during step a; it is not known yet what the new ones run."}},
		"not read at the end of it":    {[]targetstate.Seen{one, one, two, unread}, []string{"TargetScaled Run: Service shortener was scaled from 1 to 2 pods between step a and step b, not by a known autoscaler."}},
		"read in the first alone":      {[]targetstate.Seen{one, one, unread, unread}, nil},
		"nothing changes":              {[]targetstate.Seen{one, one, one, one}, nil},
		"a container restarts":         {[]targetstate.Seen{one, pods(pod("1", "sha256:aaa", 2))}, []string{"TargetRestarted : Containers of Service shortener restarted 2 times during step a, the last after OOMKilled, exit code 137."}},
		"it restarts between steps":    {[]targetstate.Seen{one, one, pods(pod("1", "sha256:aaa", 1)), pods(pod("1", "sha256:aaa", 1))}, []string{"TargetRestarted : Containers of Service shortener restarted once between step a and step b, the last after OOMKilled, exit code 137."}},
		"a pod is replaced":            {[]targetstate.Seen{one, pods(pod("2", "sha256:aaa", 0))}, []string{"TargetReplaced : Pods of Service shortener were replaced during step a by pods with the same images and limits."}},
		"by one of its template":       {[]targetstate.Seen{pods(of(pod("1", "sha256:aaa", 0), "5f7")), pods(of(pod("2", "sha256:aaa", 0), "5f7"))}, []string{"TargetReplaced : Pods of Service shortener were replaced during step a by pods with the same template."}},
		"by one of another":            {[]targetstate.Seen{pods(of(pod("1", "sha256:aaa", 0), "5f7")), pods(of(pod("2", "sha256:aaa", 0), "6c8"))}, []string{otherTemplate}},
		"half of them by another":      {[]targetstate.Seen{pods(of(pod("1", "sha256:aaa", 0), "5f7"), of(pod("2", "sha256:aaa", 0), "5f7")), pods(of(pod("1", "sha256:aaa", 0), "5f7"), of(pod("3", "sha256:aaa", 0), "6c8"))}, []string{otherTemplate}},
		"it is scaled":                 {[]targetstate.Seen{one, two}, []string{"TargetScaled Step: Service shortener was scaled from 1 to 2 pods during step a, not by a known autoscaler."}},
		"it is scaled between steps":   {[]targetstate.Seen{two, two, one, one}, []string{"TargetScaled Run: Service shortener was scaled from 2 to 1 pod between step a and step b, not by a known autoscaler."}},
		"it is scaled automatically":   {[]targetstate.Seen{scaled(one, 9), scaled(two, 9)}, []string{"TargetScaled : Service shortener was scaled from 1 to 2 pods during step a by its autoscaler web (1 to 9)."}},
		"its autoscaler is changed":    {[]targetstate.Seen{scaled(one, 9), scaled(two, 5)}, []string{"TargetReconfigured Step: The pods of Service shortener were changed during step a: the bounds of the autoscaler.", "TargetScaled Step: Service shortener was scaled from 1 to 2 pods during step a, not by a known autoscaler."}},
		"a rollout within a step":      {[]targetstate.Seen{one, pods(pod("2", "sha256:bbb", 0))}, []string{"TargetReconfigured Step: The pods of Service shortener were changed during step a: the image of container app was sha256:aaa and is sha256:bbb."}},
		"a rollout between steps":      {[]targetstate.Seen{one, one, pods(pod("2", "sha256:bbb", 0)), pods(pod("2", "sha256:bbb", 0))}, []string{"TargetReconfigured Run: The pods of Service shortener were changed between step a and step b: the image of container app was sha256:aaa and is sha256:bbb."}},
		"other limits":                 {[]targetstate.Seen{one, pods(limited(pod("1", "sha256:aaa", 0), ""))}, []string{"TargetReconfigured Step: The pods of Service shortener were changed during step a: the limits of container app were cpu 500m and are none."}},
		"a pod that has not started":   {[]targetstate.Seen{one, starting}, []string{"TargetReplaced : Pods of Service shortener were replaced during step a; it is not known yet what the new ones run."}},
		"a pod that starts":            {[]targetstate.Seen{one, half}, []string{"TargetReplaced : Pods of Service shortener were replaced during step a; it is not known yet what the new ones run."}},
		"a rollout is under way":       {[]targetstate.Seen{steady, three(surge)}, []string{someOfAnotherTemplate}},
		"it began between steps":       {[]targetstate.Seen{steady, steady, three(surge), three(surge)}, []string{strings.NewReplacer(" Step:", " Run:", "during step a", "between step a and step b").Replace(someOfAnotherTemplate)}},
		"it has more pods meanwhile":   {[]targetstate.Seen{scaled(steady, 9), scaled(surging, 9)}, []string{someOfAnotherTemplate, "TargetScaled Step: Service shortener was scaled from 3 to 4 pods during step a, not by a known autoscaler."}},
		"it is no autoscaler's yet":    {[]targetstate.Seen{one, scaled(two, 9)}, []string{changed + ": the bounds of the autoscaler.", "TargetScaled Step: Service shortener was scaled from 1 to 2 pods during step a, not by a known autoscaler."}},
		"it is no autoscaler's now":    {[]targetstate.Seen{scaled(one, 9), two}, []string{changed + ": the bounds of the autoscaler.", "TargetScaled Step: Service shortener was scaled from 1 to 2 pods during step a, not by a known autoscaler."}},
		"the autoscaler adds a pod":    {[]targetstate.Seen{scaled(steady, 9), scaled(growing, 9)}, []string{"TargetScaled : Service shortener was scaled from 3 to 4 pods during step a by its autoscaler web (1 to 9)."}},
		"its only pod is rolled":       {[]targetstate.Seen{pods(of(pod("1", "sha256:aaa", 0), "5f7")), pods(surge)}, []string{someOfAnotherTemplate}},
		"its only pod is moved":        {[]targetstate.Seen{pods(of(pod("1", "sha256:aaa", 0), "6c8")), pods(surge)}, []string{"TargetReplaced : Pods of Service shortener were replaced during step a; it is not known yet what the new ones run."}},
		"nothing can be read":          {[]targetstate.Seen{unread, unread, unread, unread}, nil},
		"not read after":               {[]targetstate.Seen{one, unread, two, two}, []string{"TargetScaled Run: Service shortener was scaled from 1 to 2 pods between step a and step b, not by a known autoscaler."}},
		"not read before, and scaled":  {[]targetstate.Seen{one, one, unread, two}, []string{"TargetScaled Step: Service shortener was scaled from 1 to 2 pods between step a and the end of step b, not by a known autoscaler."}},
		"read only at the end":         {[]targetstate.Seen{unread, two}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			status := run(tc.readings...)
			for _, c := range status.Environment.Configurations {
				if c.ID == "" {
					t.Errorf("%+v is written, which is not known", c)
				}
			}
			for _, step := range status.Steps {
				for _, c := range step.Environment.Changes {
					got = append(got, fmt.Sprintf("%s %s: %s", c.Reason, c.Spoils, c.Message))
				}
			}
			same.As(t, "changes", tc.want, got)
		})
	}
}

const changed = "TargetReconfigured Step: The pods of Service shortener were changed during step a"

const otherTemplate = "TargetReconfigured Step: The pods of Service shortener were changed during step a: their template differs in more than images and limits."

const someOfAnotherTemplate = "TargetReconfigured Step: The pods of Service shortener were changed during step a: some of them have another template."

// A first reading that comes long after a step began is not of its beginning: what changed
// before it may have changed within the step.
func TestLateFirstReadingLeavesTheStepInDoubt(t *testing.T) {
	first := run()
	start := metav1.NewMicroTime(began.Add(-time.Minute))
	first.Steps = []v1beta1.StepStatus{{Name: "a", StartTime: &start}}
	for point := range 2 {
		seen := pods(pod("1", "sha256:aaa", 0))
		seen.Look, seen.At = targetstate.Look{Point: targetstate.Point(point)}, began
		targetstate.Record(first, &seen, nil)
	}
	if changes := first.Steps[0].Environment.Changes; len(changes) > 0 {
		t.Errorf("before the first step: %+v", changes)
	}
	for late, want := range map[time.Duration]v1beta1.Spoiled{time.Second: v1beta1.SpoiledRun, 3 * time.Second: v1beta1.SpoiledStep} {
		status := run(pods(pod("1", "sha256:aaa", 0))) // of its end there is no reading
		start := metav1.NewMicroTime(began)
		status.Steps = append(status.Steps, v1beta1.StepStatus{Name: "b", StartTime: &start})
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

// A step is compared with the earlier step of the same side.
func TestSidesAreComparedApart(t *testing.T) {
	status := &v1beta1.LoadTestStatus{Environment: &v1beta1.EnvironmentStatus{}, Steps: []v1beta1.StepStatus{
		{Name: "not looked at", Side: v1beta1.SideCandidate}, {Name: "a", Side: v1beta1.SideCandidate}, {Name: "a/old", Side: v1beta1.SideControl}, {Name: "b", Side: v1beta1.SideCandidate},
	}}
	for i := 1; i < len(status.Steps); i++ {
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
	two := pods(pod("1", "sha256:aaa", 0), pod("2", "sha256:aaa", 0), pod("3", "sha256:aaa", 0))
	two.Pods[1].Node, two.Pods[1].Ready, two.Pods[2].Node = "node-3", false, "node-2"
	status := run(two, two, two, two)
	env := status.Environment
	want := v1beta1.EnvironmentStatus{
		Nodes: []string{"node-1", "node-3", "node-2"}, SharedNodes: []v1beta1.SharedNode{{Node: "node-1", Workers: 2}, {Node: "node-2", Workers: 1}},
		Configurations: []v1beta1.TargetConfiguration{{ID: env.Configurations[0].ID, Service: "shortener", Containers: []v1beta1.TargetContainer{{Name: "app", Image: "shortener:v3", Digest: "sha256:aaa", Limits: "cpu 500m"}}}},
	}
	same.As(t, "environment", &want, env)
	r := status.Steps[1].Environment.After
	if r.Configuration != want.Configurations[0].ID || r.Pods != 3 || r.Ready != 2 || r.Identity == "" {
		t.Errorf("the reading is %+v", r)
	}
}

// So many nodes and configurations are written, and so much of each; what is not known is not.
func TestWhatIsWrittenOfATargetIsBounded(t *testing.T) {
	var readings []targetstate.Seen
	for i := range 40 {
		seen := pods(pod("1", fmt.Sprint("sha256:", i), 0), of(pod("2", fmt.Sprint("sha256:", i), 0), fmt.Sprint(i)))
		seen.Pods[0].Node, seen.Pods[1].Node = "", fmt.Sprint("node-", i)
		readings = append(readings, seen)
	}
	last := scaled(pods(readings[38].Pods[0]), 9)
	readings[39] = scaled(pods(append([]targetstate.Pod{pod("3", "sha256:38", 0)}, last.Pods...)...), 9)
	readings[38] = last
	readings[0] = scaled(readings[0], 9)
	known := scaled(pods(append(slices.Clone(readings[0].Pods), pod("9", "sha256:0", 0))...), 9)
	readings = append(readings, readings[39], known, known, readings[39])
	large := pods()
	for i := range 20 {
		large.Pods = append(large.Pods, limited(of(pod(fmt.Sprint(i), "sha256:aaa", 0), fmt.Sprint("t", i)), fmt.Sprint("cpu ", i)))
	}
	status := run(readings...)
	if env := status.Environment; len(env.Nodes) != 32 || slices.Contains(env.Nodes, "") || len(env.Configurations) != 16 {
		t.Errorf("%d nodes and %d configurations: %v", len(env.Nodes), len(env.Configurations), env.Nodes)
	}
	// What there was no room for differs in an unknown way.
	step := status.Steps[19].Environment
	if got := fmt.Sprint(step.Changes[0].Message, step.Changes[1].Message); got != "Service shortener was scaled from 1 to 2 pods during step t, not by a known autoscaler.The pods of Service shortener were changed between step s and step t." {
		t.Errorf("changes %s", got)
	}
	for i, want := range []string{"from 2 to 3", "from 3 to 2"} {
		changes := status.Steps[20+i].Environment.Changes
		if len(changes) < 2 || !strings.Contains(changes[0].Message+changes[1].Message, want) || !strings.Contains(changes[0].Message+changes[1].Message, "not by a known autoscaler") {
			t.Errorf("changes %+v", changes)
		}
	}
	if c := run(large).Environment.Configurations[0]; len(c.Containers) != 16 || len(c.Templates) != 16 {
		t.Errorf("%d containers and %d templates of one configuration", len(c.Containers), len(c.Templates))
	}
	want := &v1beta1.EnvironmentReading{Time: metav1.NewMicroTime(began), Problem: "No."}
	same.As(t, "a reading that failed", want, run(targetstate.Seen{Problem: "No."}).Steps[0].Environment.Before)
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
	must.Succeed(t, err)
	return len(raw)
}
