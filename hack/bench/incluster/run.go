package incluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
)

const (
	// lookEvery is how often a run is looked at.
	lookEvery = 500 * time.Millisecond
	// startLimit and endLimit bound the start of a tool, and its end after the load.
	startLimit, endLimit = 60 * time.Second, 60 * time.Second
	// workerLimit is how long the workers of a test that has ended may take to end.
	workerLimit = 10 * time.Second
	// podPath is where the pods of the tests are.
	podPath = "/api/v1/namespaces/" + Namespace + "/pods"
)

// Result is one test by one tool.
type Result struct {
	Tool string
	Test Test
	// Sent is how many requests came to the target, and Served how many of them it answered as it should.
	Sent, Served int64
	Said         Said
	// True is the 99th percentile of response time that the schedule has at the target; 0: not known.
	True time.Duration
	// Workers is the processor time of the pods that sent requests, and Control that of all other
	// pods of the tool during the test, its operator's among them.
	Workers, Control time.Duration
	// Error is why something is missing; empty: nothing is.
	Error string
}

// lacks notes why something is missing, if err is not nil.
func (r *Result) lacks(err error) {
	if err == nil {
		return
	}
	if r.Error != "" {
		r.Error += "; "
	}
	r.Error += strings.ReplaceAll(err.Error(), "\n", "; ")
}

// run is a test that is carried out.
type run struct {
	*session
	tool tool
	test Test
	// others are the pods that were there before.
	others map[string]bool
	// present are the tool's pods by the latest look, by name; seen are all that ever were, by UID.
	present []corev1.Pod
	seen    map[string]corev1.Pod
	killed  string // the pod, once it is
}

// carryOut carries out a test. An error is of the cluster; what a tool does not say is in the result.
func (s *session) carryOut(ctx context.Context, with tool, test Test) (result Result, err error) {
	r := &run{session: s, tool: with, test: test, seen: map[string]corev1.Pod{}}
	result = Result{Tool: with.name, Test: test}
	if err := r.renewTruth(ctx); err != nil {
		return result, err
	}
	// What images and earlier tests have left to write would delay commits of the shortener's database.
	syscall.Sync()
	before, err := r.counts(ctx)
	if err != nil {
		return result, err
	}
	if r.others, err = r.pods(ctx, podPath); err != nil {
		return result, err
	}
	control, err := r.controlTime(ctx)
	if err != nil {
		return result, err
	}
	file, err := s.render(with.name, test)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, r.remove(context.WithoutCancel(ctx), file)) }()
	if err := s.Quiet(ctx, "kubectl", "apply", "--namespace", Namespace, "--filename", file); err != nil {
		return result, err
	}
	result.lacks(r.follow(ctx))
	if ctx.Err() != nil {
		return result, context.Cause(ctx)
	}
	result.Said, err = with.said(ctx, r)
	result.lacks(err)
	if r.killed != "" {
		result.Said.Words = append([]string{"killed: " + r.killed}, result.Said.Words...)
	}
	after, err := r.controlTime(ctx)
	if err != nil {
		return result, err
	}
	result.Control = after - control
	r.addTimes(&result)
	return result, r.count(ctx, before, &result)
}

// renewTruth starts the target of known truth anew: its script begins with the first request.
func (r *run) renewTruth(ctx context.Context) error {
	if r.test.Target != truth {
		return nil
	}
	file, err := r.render(truth, r.test)
	if err != nil {
		return err
	}
	if err := r.Quiet(ctx, "kubectl", "delete", "pod", truth, "--namespace", Namespace, "--ignore-not-found"); err != nil {
		return err
	}
	if err := r.Quiet(ctx, "kubectl", "apply", "--namespace", Namespace, "--filename", file); err != nil {
		return err
	}
	return r.Quiet(ctx, "kubectl", "wait", "--for=condition=Ready", "pod/"+truth, "--namespace", Namespace, "--timeout=60s")
}

// render writes a manifest to a file.
func (s *session) render(name string, t Test) (file string, err error) {
	text, err := Manifest(name, t)
	if err != nil {
		return "", err
	}
	file = filepath.Join(s.work, name+".yaml")
	return file, os.WriteFile(file, []byte(text), 0o600)
}

// follow looks at a run until it and its workers have ended, and kills a worker when it is time.
func (r *run) follow(ctx context.Context) error {
	limit := startLimit + time.Duration(r.test.Seconds)*time.Second + endLimit
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it had not ended after %v", limit))
	defer cancel()
	ticker := time.NewTicker(r.lookEvery)
	defer ticker.Stop()
	// A worker that came in the place of another may not know that the test has ended.
	for last := int(workerLimit / r.lookEvery); last > 0; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
		if err := r.look(ctx); err != nil {
			return err
		}
		if err := r.kill(ctx); err != nil {
			return err
		}
		ended, err := r.tool.ended(ctx, r)
		if err != nil {
			return err
		}
		if !ended {
			continue
		}
		if !slices.ContainsFunc(r.present, func(p corev1.Pod) bool { return r.isWorker(&p) && !over(&p) }) {
			return nil
		}
		last--
	}
	return nil
}

// look reads the pods of the tool.
func (r *run) look(ctx context.Context) error {
	var list corev1.PodList
	if err := r.api.get(ctx, podPath, &list); err != nil {
		return err
	}
	r.present = slices.DeleteFunc(list.Items, func(p corev1.Pod) bool { return r.others[string(p.UID)] })
	slices.SortFunc(r.present, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	for _, p := range r.present {
		r.seen[string(p.UID)] = p
	}
	return nil
}

// kill kills the first of the workers that run, once it is time.
func (r *run) kill(ctx context.Context) error {
	if r.test.KillAt == 0 || r.killed != "" {
		return nil
	}
	c, err := r.truthCounters(ctx)
	// The target's clock is that of this host, on which it is.
	if err != nil || c.First == 0 || time.Duration(groundtruth.Now()-c.First) < r.test.KillAt {
		return err
	}
	i := slices.IndexFunc(r.present, func(p corev1.Pod) bool { return r.isWorker(&p) && p.Status.Phase == corev1.PodRunning })
	if i < 0 {
		return errors.New("no worker runs that could be killed")
	}
	r.killed = r.present[i].Name
	return r.Quiet(ctx, "kubectl", "delete", "pod", r.killed, "--namespace", Namespace, "--grace-period=0", "--force")
}

// isWorker says whether a pod sends requests.
func (r *run) isWorker(p *corev1.Pod) bool { return p.Labels[r.tool.worker[0]] == r.tool.worker[1] }

// over says whether a pod has ended.
func over(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// pods are the UIDs of those at a path.
func (r *run) pods(ctx context.Context, path string) (map[string]bool, error) {
	var list corev1.PodList
	err := r.api.get(ctx, path, &list)
	uids := map[string]bool{}
	for _, p := range list.Items {
		uids[string(p.UID)] = true
	}
	return uids, err
}

// addTimes adds the processor times of the tool's pods in the namespace of the tests.
func (r *run) addTimes(result *Result) {
	for uid, p := range r.seen {
		used, _ := r.cpu.of(uid)
		if r.isWorker(&p) {
			result.Workers += used
		} else {
			result.Control += used
		}
	}
	if result.Workers == 0 {
		result.lacks(errors.New("no control group of its workers was seen, so that their processor time is not known"))
	}
}

// controlTime is the processor time of the tool's operator so far; 0 if it has none.
func (r *run) controlTime(ctx context.Context) (sum time.Duration, err error) {
	if r.tool.control == "" {
		return 0, nil
	}
	uids, err := r.pods(ctx, "/api/v1/namespaces/"+r.tool.control+"/pods")
	for uid := range uids {
		used, _ := r.cpu.of(uid)
		sum += used
	}
	return sum, err
}

// removeLimit bounds the removal of what a test left.
const removeLimit = 90 * time.Second

// remove deletes a test's objects, and waits until its pods are gone.
func (r *run) remove(ctx context.Context, file string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, removeLimit, fmt.Errorf("pods of %s were still there after %v", r.tool.name, removeLimit))
	defer cancel()
	if err := r.Quiet(ctx, "kubectl", "delete", "--namespace", Namespace, "--filename", file, "--ignore-not-found", "--cascade=foreground"); err != nil {
		return err
	}
	ticker := time.NewTicker(r.lookEvery)
	defer ticker.Stop()
	for {
		if err := r.look(ctx); err != nil || len(r.present) == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
}
