//go:build e2e

package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/fault"
	"github.com/loadtest-dev/loadtest-operator/test/pressure"
)

const (
	// leftLatest is when the workers of a finished run must have ended: the operator
	// deletes what is left of a Job half a minute after its run.
	leftLatest = time.Minute
	// slack is what the end of a run may take beyond its load and the fault: until
	// another operator leads, and has read the run.
	slack = 100 * time.Second
)

// subject is a run that a fault hits.
type subject struct {
	line   fault.Line
	load   fault.Load
	want   fault.Expectation
	target cluster.Counter
	lt     v1beta1.LoadTest
	begun  time.Time // of the fault
	// machine says how busy it was since the run was made.
	machine pressure.Meter
	// held is for how long the kernel held a worker back by its CPU limit.
	held time.Duration
	// deadNode is a node that the fault has stopped: pods on it never end.
	deadNode string
}

func newSubject(target cluster.Counter, kind, what string, load fault.Load, want fault.Expectation) *subject {
	s := &subject{line: fault.Line{Fault: kind, Run: what}, load: load, want: want, target: target, machine: pressure.Start()}
	s.lt.Namespace, s.lt.Name = target.Namespace, fault.Name(kind, what)
	s.want.Prompt = load.Prompt()
	if s.want.Within == 0 {
		s.want.Within = load.Length() + slack
	}
	return s
}

func (s *subject) create(ctx context.Context) error {
	s.lt.Spec = s.load.Spec(s.lt.Name, s.target.Name)
	return cluster.Try(ctx, cluster.Patience, func(ctx context.Context) error { return cluster.API.Create(ctx, &s.lt) })
}

func (s *subject) read(ctx context.Context) error {
	once, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return cluster.API.Get(once, client.ObjectKeyFromObject(&s.lt), &s.lt)
}

// await reads the run until f is true of it.
func (s *subject) await(ctx context.Context, what string, f func(*v1beta1.LoadTestStatus) bool) error {
	err := cluster.Try(ctx, cluster.Patience, func(ctx context.Context) error {
		if err := s.read(ctx); err != nil {
			return err
		}
		if !f(&s.lt.Status) {
			return fmt.Errorf("%s is %s, not %s", s.lt.Name, fault.At(&s.lt.Status, time.Now()), what)
		}
		return nil
	})
	return err
}

// awaitStep waits until a step runs, and returns when it began.
func (s *subject) awaitStep(ctx context.Context, i int) (time.Time, error) {
	err := s.await(ctx, fmt.Sprintf("in step %d", i+1), func(status *v1beta1.LoadTestStatus) bool {
		return len(status.Steps) > i && status.Steps[i].StartTime != nil
	})
	if err != nil {
		return time.Time{}, err
	}
	return s.lt.Status.Steps[i].StartTime.Time, nil
}

// patch changes a field of the spec, given as a merge patch.
func (s *subject) patch(ctx context.Context, spec string) error {
	lt := v1beta1.LoadTest{ObjectMeta: s.lt.ObjectMeta}
	return cluster.Try(ctx, cluster.Patience, func(ctx context.Context) error {
		return cluster.API.Patch(ctx, &lt, client.RawPatch("application/merge-patch+json", []byte(`{"spec":`+spec+`}`)))
	})
}

// hold creates the run, and holds it after its first step.
func (s *subject) hold(ctx context.Context) error {
	if err := s.create(ctx); err != nil {
		return err
	}
	if _, err := s.awaitStep(ctx, 0); err != nil {
		return err
	}
	if err := s.patch(ctx, `{"suspend":true}`); err != nil {
		return err
	}
	return s.await(ctx, "held", func(status *v1beta1.LoadTestStatus) bool { return status.Phase == v1beta1.PhaseSuspended })
}

func (s *subject) release(ctx context.Context) error { return s.patch(ctx, `{"suspend":false}`) }

func (s *subject) terminate(ctx context.Context) error { return s.patch(ctx, `{"terminate":true}`) }

// hit notes where the run is when the fault comes.
func (s *subject) hit(ctx context.Context) error {
	if err := s.read(ctx); err != nil {
		return err
	}
	s.begun = time.Now()
	s.line.At = fault.At(&s.lt.Status, s.begun)
	return nil
}

// judge waits for the end of the run, and tells how it went. An error is why the
// fault did not hit it.
func (s *subject) judge(ctx context.Context, c *campaign, err error) {
	if err == nil {
		s.line.Outcome, err = s.outcome(ctx)
	}
	if s.line.Err = err; err == nil {
		s.line.Problems, s.line.Busy = fault.Judge(s.want, s.line.Outcome), fault.Busy(s.want, s.line.Outcome)
	}
	var detail string
	if !s.line.OK() {
		detail = s.explain()
	}
	c.tell(s.line, detail)
	// What a stuck run still does must not disturb others.
	if err := client.IgnoreNotFound(cluster.API.Delete(ctx, &s.lt)); err != nil {
		c.t.Errorf("delete %s: %v", s.lt.Name, err)
	}
}

// outcome waits for the end of the run, and then reads what it left behind and what
// the target counted.
func (s *subject) outcome(ctx context.Context) (fault.Outcome, error) {
	gone, toGo := false, slices.Contains(s.want.Verdicts, fault.Gone)
	errNotYet := errors.New("not finished")
	remaining := max(time.Second, time.Until(s.begun.Add(s.want.Within)))
	ended := cluster.Try(ctx, remaining, func(ctx context.Context) error {
		err := s.read(ctx)
		if gone = apierrors.IsNotFound(err); gone {
			return nil
		}
		if err == nil && (toGo || fault.Read(&s.lt.Status).Verdict == "") {
			err = errNotYet
		}
		return err
	})
	o := fault.Outcome{Verdict: fault.Gone}
	if !gone {
		o = fault.Read(&s.lt.Status)
	}
	o.Took, o.Planned = time.Since(s.begun), s.load.Planned()
	if steps := s.lt.Status.Steps; len(steps) > 0 && steps[0].Window != nil {
		// A burst lasts until its last answer, and so longer than planned.
		o.Held = 100 * s.held.Seconds() / (steps[0].Window.Seconds() * float64(s.load.Workers))
	}
	if at := s.lt.Status.CompletionTime; !gone && at != nil {
		o.Took = max(0, at.Sub(s.begun)) // to a second; 0 if it had ended before
	}
	if ended == nil {
		o.Left = s.left(ctx, gone)
	}
	if gone {
		o.Took = time.Since(s.begun) // to the end of the last worker
	}
	err := cluster.Try(ctx, leftLatest, func(ctx context.Context) error {
		all, err := s.target.Read(ctx)
		own := all[s.lt.Name]
		o.Received, o.Wrong, o.Slowest, o.Stood = own.Received, own.Wrong, own.Longest, own.Stood
		return err
	})
	o.Pressure = s.machine.Read()
	return o, err
}

// left waits until no worker of the run is left, and names one that is. Of a run that
// was removed nothing may be left within its own bound.
func (s *subject) left(ctx context.Context, gone bool) (left string) {
	limit := leftLatest
	if gone {
		limit = max(time.Second, time.Until(s.begun.Add(s.want.Within)))
	}
	err := cluster.Try(ctx, limit, func(ctx context.Context) error {
		var pods corev1.PodList
		err := cluster.API.List(ctx, &pods, client.InNamespace(s.lt.Namespace), client.MatchingLabels{"loadtest.dev/run": string(s.lt.UID)})
		if err != nil {
			return err
		}
		for _, p := range pods.Items {
			ended := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
			if p.Spec.NodeName != s.deadNode && (gone || !ended) {
				return fmt.Errorf("worker %s (%s)", p.Name, p.Status.Phase)
			}
		}
		return nil
	})
	if err != nil {
		return err.Error()
	}
	return ""
}

// workers are the pods of the run, by index.
func (s *subject) workers(ctx context.Context) ([]corev1.Pod, error) {
	var pods corev1.PodList
	err := cluster.API.List(ctx, &pods, client.InNamespace(s.lt.Namespace), client.MatchingLabels{"loadtest.dev/run": string(s.lt.UID)})
	if err == nil && len(pods.Items) == 0 {
		err = fmt.Errorf("%s has no workers", s.lt.Name)
	}
	return pods.Items, err
}

// explain is what a person would look at first.
func (s *subject) explain() string {
	status := s.lt.Status.DeepCopy()
	for i := range status.Steps {
		if r := status.Steps[i].Result; r != nil {
			r.Histogram = ""
		}
	}
	text, _ := yaml.Marshal(status)
	events, _ := cluster.Command(context.Background(), "kubectl", "get", "events", "-n", s.lt.Namespace,
		"--field-selector=involvedObject.name="+s.lt.Name, "--sort-by=.lastTimestamp")
	operator, _ := cluster.Command(context.Background(), "kubectl", "logs", "-n", cluster.OperatorNamespace, "-l", cluster.OperatorLabel, "--prefix", "--tail=2000")
	workers, _ := cluster.Command(context.Background(), "kubectl", "logs", "-n", s.lt.Namespace, "-l", "loadtest.dev/run="+string(s.lt.UID), "--prefix", "--tail=20")
	return fmt.Sprintf("fault at %s\n%s%s%s%s", s.begun.UTC().Format("15:04:05.000"), text, events,
		about(operator, s.lt.Name, string(s.lt.UID), "lead", "lease"), about(workers, ""))
}

// about are the last lines of a log with one of those words, cut to a readable length.
func about(log string, words ...string) string {
	var own []string
	for line := range strings.Lines(log) {
		if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(line, w) }) {
			own = append(own, strings.TrimSpace(line[:min(len(line), 400)])+"\n")
		}
	}
	return strings.Join(own[max(0, len(own)-40):], "")
}
