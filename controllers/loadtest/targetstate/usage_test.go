package targetstate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetstate"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// used is a reading of container app, of the 15 s until so many seconds after the beginning.
func used(pod string, until int, millis, mebibytes int64) targetstate.Use {
	end := instant.Add(time.Duration(until) * time.Second)
	return targetstate.Use{Pod: pod, Container: "app", From: end.Add(-15 * time.Second), To: end, NanoCPU: millis * 1e6, Memory: mebibytes << 20}
}

var instant = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// limitedPod has one container with limits, which ended as it says.
func limitedPod(millis, bytes int64, ended string, at time.Duration) targetstate.Pod {
	return targetstate.Pod{UID: "a", Containers: []targetstate.Container{{
		TargetContainer: v1beta1.TargetContainer{Name: "app"}, CPULimit: millis, MemoryLimit: bytes, Ended: ended, EndedAt: instant.Add(at),
	}}}
}

// recorded is what a step of 60 s has of it, which began at the instant.
func recorded(u *targetstate.Usage, pods ...targetstate.Pod) (*v1beta1.StepUsage, []archive.Usage) {
	began := metav1.NewMicroTime(instant)
	status := &v1beta1.LoadTestStatus{Environment: &v1beta1.EnvironmentStatus{Usage: true}, Steps: []v1beta1.StepStatus{{Name: "one", StartTime: &began}}}
	seen := &targetstate.Seen{Look: targetstate.Look{Point: targetstate.After}, Service: "shop", At: instant.Add(time.Minute), Usage: u, Pods: pods}
	targetstate.Record(status, seen, nil)
	return status.Steps[0].Environment.Usage, seen.ArchivedUsage(&status.Steps[0])
}

func TestUsageOfAStep(t *testing.T) {
	const mebibyte = 1 << 20
	one := v1beta1.ContainerUsage{Name: "app", Readings: 1, CPU: "490m", MostCPU: "490m", CPULimit: "500m", MostMemory: "64Mi", MemoryLimit: "128Mi"}
	with := func(edit func(*v1beta1.ContainerUsage)) v1beta1.StepUsage {
		c := one
		edit(&c)
		return v1beta1.StepUsage{Containers: []v1beta1.ContainerUsage{c}}
	}
	limited := limitedPod(500, 128*mebibyte, "", 0)
	for name, tc := range map[string]struct {
		lists [][]targetstate.Use
		pods  []targetstate.Pod
		want  v1beta1.StepUsage
	}{
		"one reading":            {[][]targetstate.Use{{used("a", 30, 490, 64)}}, []targetstate.Pod{limited}, with(func(*v1beta1.ContainerUsage) {})},
		"the same reading twice": {[][]targetstate.Use{{used("a", 30, 490, 64)}, {used("a", 30, 490, 64)}}, []targetstate.Pod{limited}, with(func(*v1beta1.ContainerUsage) {})},
		"a mean, and the highest": {[][]targetstate.Use{{used("a", 20, 100, 64)}, {used("a", 35, 300, 32)}}, []targetstate.Pod{limited}, with(func(c *v1beta1.ContainerUsage) {
			c.Readings, c.CPU, c.MostCPU = 2, "200m", "300m"
		})},
		"the mean of the pod with the highest": {[][]targetstate.Use{{used("a", 30, 100, 64), used("b", 30, 300, 32)}}, []targetstate.Pod{limited}, with(func(c *v1beta1.ContainerUsage) {
			c.Readings, c.CPU, c.MostCPU = 2, "300m", "300m"
		})},
		"limits that differ": {[][]targetstate.Use{{used("a", 30, 490, 64)}}, []targetstate.Pod{limited, limitedPod(250, 128*mebibyte, "", 0)}, with(func(c *v1beta1.ContainerUsage) {
			c.CPULimit = ""
		})},
		"a limit of some pods": {[][]targetstate.Use{{used("a", 30, 490, 64)}}, []targetstate.Pod{limitedPod(0, 0, "", 0), limited}, with(func(c *v1beta1.ContainerUsage) {
			c.CPULimit, c.MemoryLimit = "", ""
		})},
		"clocks that differ by a second": {[][]targetstate.Use{{used("a", 14, 490, 64)}, {used("a", 61, 490, 64)}}, []targetstate.Pod{limited}, with(func(c *v1beta1.ContainerUsage) { c.Readings = 2 })},
		"time before and after the step": {[][]targetstate.Use{{used("a", 13, 490, 64)}, {used("a", 62, 490, 64)}},
			[]targetstate.Pod{limited},
			v1beta1.StepUsage{Problem: "No reading of the resource metrics API covers time of the step alone: each covers 15s. Use longer steps."}},
		"nothing": {nil, []targetstate.Pod{limited}, v1beta1.StepUsage{Problem: "The resource metrics API gave no reading while the step ran."}},
		"out of memory in the step": {nil, []targetstate.Pod{limitedPod(500, 128*mebibyte, "OOMKilled, exit code 137", 30*time.Second)}, v1beta1.StepUsage{
			Problem:    "The resource metrics API gave no reading while the step ran.",
			Containers: []v1beta1.ContainerUsage{{Name: "app", OutOfMemory: true, CPULimit: "500m", MemoryLimit: "128Mi"}},
		}},
		"out of memory before it": {[][]targetstate.Use{{used("a", 30, 490, 64)}}, []targetstate.Pod{limitedPod(500, 128*mebibyte, "OOMKilled, exit code 137", -2*time.Second)}, with(func(*v1beta1.ContainerUsage) {})},
		"ended in another way":    {[][]targetstate.Use{{used("a", 30, 490, 64)}}, []targetstate.Pod{limitedPod(500, 128*mebibyte, "Error, exit code 1", 30*time.Second)}, with(func(*v1beta1.ContainerUsage) {})},
	} {
		t.Run(name, func(t *testing.T) {
			u := &targetstate.Usage{}
			for _, list := range tc.lists {
				u.Add(list, instant, instant.Add(time.Minute))
			}
			got, _ := recorded(u, tc.pods...)
			same.As(t, "usage", &tc.want, got)
		})
	}
}

// A problem counts only if nothing was read at all.
func TestProblemOfUsage(t *testing.T) {
	u := &targetstate.Usage{Problem: "The operator may \x1bnot read it."}
	if got, _ := recorded(u); got.Problem != "The operator may not read it." {
		t.Errorf("problem %q", got.Problem)
	}
	u.Add([]targetstate.Use{used("a", 30, 1, 1)}, instant, time.Time{})
	if got, _ := recorded(u); got.Problem != "" || len(got.Containers) != 1 {
		t.Errorf("usage %+v", got)
	}
}

// The archive has the highest of the pods of each list, by the time since the window began.
func TestArchivedUsage(t *testing.T) {
	u := &targetstate.Usage{}
	u.Add([]targetstate.Use{used("a", 20, 100, 64), used("b", 22, 300, 32)}, instant, instant.Add(time.Minute))
	u.Add([]targetstate.Use{used("a", 35, 200, 65)}, instant, instant.Add(time.Minute))
	_, got := recorded(u, limitedPod(500, 0, "", 0))
	want := []archive.Usage{{Container: "app", CPULimitMillis: 500, Points: []archive.UsagePoint{
		{FromMillis: 5_000, ToMillis: 22_000, CPUMillis: 300, MemoryBytes: 64 << 20},
		{FromMillis: 20_000, ToMillis: 35_000, CPUMillis: 200, MemoryBytes: 65 << 20},
	}}}
	same.As(t, "course", want, got)
}

// However many pods and containers there are, and however long a step is, little is kept.
func TestUsageIsBounded(t *testing.T) {
	u := &targetstate.Usage{}
	for i := range 1000 {
		var list []targetstate.Use
		for p := range 130 {
			for c := range 20 {
				use := used(fmt.Sprint("pod", p), 15*(i+1), 1<<30, 1<<40)
				use.Container = fmt.Sprint(c) + strings.Repeat("x", 60)
				list = append(list, use)
			}
		}
		u.Add(list, instant, time.Time{})
	}
	var pod targetstate.Pod
	for c := range 20 {
		pod.Containers = append(pod.Containers, targetstate.Container{
			TargetContainer: v1beta1.TargetContainer{Name: fmt.Sprint(c) + strings.Repeat("x", 60)}, CPULimit: 1 << 40, MemoryLimit: 1 << 60,
			Ended: "OOMKilled, exit code 137", EndedAt: instant,
		})
	}
	got, archived := recorded(u, pod)
	if n := size(t, got); n > targetstate.MaxUsageSize {
		t.Errorf("the status has %d bytes, %d are planned", n, targetstate.MaxUsageSize)
	}
	same.As(t, "readings of 100 pods and 1000 lists", 100*1000, got.Containers[0].Readings)
	for _, a := range archived {
		if len(a.Points) > archive.MaxUsagePoints || a.Points[0].FromMillis != 0 || a.Points[len(a.Points)-1].ToMillis != 15_000_000 {
			t.Errorf("%d points from %d to %d", len(a.Points), a.Points[0].FromMillis, a.Points[len(a.Points)-1].ToMillis)
		}
	}
	problem := &targetstate.Usage{Problem: strings.Repeat("ä", 1000)}
	if got, _ := recorded(problem, pod); size(t, got) > targetstate.MaxUsageSize {
		t.Errorf("with a problem the status has %d bytes", size(t, got))
	}
}

// The container nearest to its limit comes first, and the one that ran out of memory before it.
func TestUsageNamesTheContainersNearestToTheirLimits(t *testing.T) {
	u := &targetstate.Usage{}
	var pod targetstate.Pod
	var list []targetstate.Use
	for _, c := range []struct {
		name        string
		used, limit int64
		outOfMemory bool
	}{{"a", 100, 1000, false}, {"b", 90, 100, false}, {"c", 900, 0, false}, {"d", 1, 1000, true}, {"e", 200, 1000, false}} {
		use := used("a", 30, c.used, 1)
		use.Container = c.name
		list = append(list, use)
		container := targetstate.Container{TargetContainer: v1beta1.TargetContainer{Name: c.name}, CPULimit: c.limit, EndedAt: instant}
		if c.outOfMemory {
			container.Ended = "OOMKilled, exit code 137"
		}
		pod.Containers = append(pod.Containers, container)
	}
	u.Add(list, instant, time.Time{})
	got, _ := recorded(u, pod)
	var names []string
	for _, c := range got.Containers {
		names = append(names, c.Name)
	}
	same.As(t, "containers", []string{"d", "b", "e", "a"}, names)
}

// What is recorded changes nothing of what was read, and a copy does not grow.
func TestUsageThatIsRecordedStaysAsItWas(t *testing.T) {
	u := &targetstate.Usage{}
	u.Add([]targetstate.Use{used("a", 30, 100, 1)}, instant, time.Time{})
	clone := u.Clone()
	u.Add([]targetstate.Use{used("a", 45, 300, 1)}, instant, time.Time{})
	got, _ := recorded(clone, limitedPod(500, 0, "OOMKilled, exit code 137", 0))
	if again, _ := recorded(clone); got.Containers[0].Readings != 1 || again.Containers[0].OutOfMemory || again.Containers[0].CPULimit != "" {
		t.Errorf("first %+v, then %+v", got.Containers, again.Containers)
	}
}
