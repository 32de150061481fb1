package world

import (
	"encoding/json"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/queue"
)

var (
	errConflict = errors.New("the object has been modified")
	errAway     = errors.New("the API server is away")
	errQuota    = errors.New("exceeded quota")
)

// apiServer stores the LoadTest, its Job and its pods, with the cluster's controllers.
type apiServer struct {
	world *World
	state
	deleted bool
	// archives are the stored archives, by name.
	archives map[string]archive
}

// archive is what is stored of a step.
type archive struct {
	step, reporting int32
	due, sent       int64
}

// state is all that is stored. An operator's cache is a copy.
type state struct {
	lt *v1beta1.LoadTest
	// version belongs to the LoadTest, revision to everything.
	version, revision int
	// own is the latest revision of the run's own objects: a change of other runs leads to no
	// pass.
	own  int
	job  lifecycle.JobState
	jobs int // created so far
	pods []pod
	// others are the other runs that have not ended. It is replaced, never changed.
	others []queue.Run
	// baseline is the LoadTest of spec.baseline; nil: there is none. It is replaced, never
	// changed.
	baseline *v1beta1.LoadTest
}

// pod is a worker's pod.
type pod struct {
	state   exchange.PodState
	ending  bool
	reason  string
	message string
	job     int // of the Job that made it
}

func newAPIServer(w *World, lt *v1beta1.LoadTest) apiServer {
	return apiServer{world: w, archives: map[string]archive{}, state: state{lt: lt, pods: make([]pod, len(w.Workers))}}
}

func (s state) copy() state {
	s.lt, s.pods = s.lt.DeepCopy(), slices.Clone(s.pods)
	return s
}

// changed tells every operator of the change, each when its cache has it.
func (a *apiServer) changed() {
	a.revision++
	a.own = a.revision
	if a.world.instant {
		return // an operator reads it anyway
	}
	seen := a.copy()
	for _, o := range a.world.all {
		o.watch(seen)
	}
}

// edit changes the spec, as a person does.
func (a *apiServer) edit(what string, f func(*v1beta1.LoadTestSpec)) {
	a.world.say("spec: %s", what)
	f(&a.lt.Spec)
	a.lt.Generation++
	a.version++
	a.changed()
}

// reachable says whether a request is answered, and whether as what it did.
func (a *apiServer) reachable() error {
	if a.world.now.Before(a.world.apiAway) {
		return errAway
	}
	if a.world.failWrites > 0 {
		a.world.failWrites--
		a.world.say("the write is refused")
		return errAway
	}
	return nil
}

// answered is the error of a write that was made.
func (a *apiServer) answered() error {
	if a.world.failAfterWrites > 0 {
		a.world.failAfterWrites--
		a.world.say("the write is made, and reported as failed")
		return errAway
	}
	return nil
}

// patchStatus writes the status that was decided on a version.
func (a *apiServer) patchStatus(o *operator, version int, next v1beta1.LoadTestStatus) error {
	if err := a.reachable(); err != nil {
		return err
	}
	if version != a.version {
		return errConflict
	}
	raw, err := json.Marshal(next)
	if err != nil {
		panic(err)
	}
	before := a.lt
	a.lt = &v1beta1.LoadTest{TypeMeta: before.TypeMeta, ObjectMeta: before.ObjectMeta, Spec: before.Spec}
	if err := json.Unmarshal(raw, &a.lt.Status); err != nil {
		panic(err)
	}
	a.version++
	a.world.checkWrite(o, before, a.lt)
	a.changed()
	return a.answered()
}

// createResults stores the archive of a step. One of that name that is there is as good.
func (a *apiServer) createResults(s *lifecycle.Store) error {
	if err := a.reachable(); err != nil {
		return err
	}
	if a.world.now.Before(a.world.quotaUntil) {
		a.world.say("the results of step %d are refused", s.Step)
		return errQuota
	}
	m := s.Report.Merged
	stored := archive{int32(s.Step), s.Report.Reporting, m.Due, m.Requests[0].Sent}
	if old, ok := a.archives[s.Name]; ok && old != stored {
		a.world.violated(archiveIsOfStatus, "%s is there with %+v, and is to be stored with %+v", s.Name, old, stored)
	}
	a.archives[s.Name] = stored
	return a.answered()
}

// createJob makes the Job, and its pods in time.
func (a *apiServer) createJob(o *operator) error {
	if err := a.reachable(); err != nil {
		return err
	}
	if a.job != lifecycle.JobAbsent {
		return nil // it exists
	}
	a.world.checkJob(o)
	a.job = lifecycle.JobPresent
	a.jobs++
	a.world.say("the Job is created")
	for _, x := range a.world.Workers {
		x.Boot()
	}
	a.changed()
	return a.answered()
}

// deleteJob deletes the Job with its pods.
func (a *apiServer) deleteJob(jobs int) error {
	if err := a.reachable(); err != nil {
		return err
	}
	if a.job == lifecycle.JobAbsent || jobs != a.jobs {
		return nil // it is gone, or is another
	}
	a.job = lifecycle.JobAbsent
	a.world.say("the Job is deleted")
	for n, x := range a.world.Workers {
		if !x.Lingers {
			x.die()
		}
		a.pods[n] = pod{}
	}
	a.changed()
	return a.answered()
}

// podBecomes changes a pod.
func (a *apiServer) podBecomes(number int, p pod) {
	if a.pods[number] == p {
		return
	}
	a.pods[number] = p
	over := func(p pod) bool {
		return p.state == exchange.PodEnded || p.state == exchange.PodAbsent && p.reason == "" // and not refused
	}
	if a.job == lifecycle.JobPresent && !slices.ContainsFunc(a.pods, func(p pod) bool { return !over(p) }) {
		a.job = lifecycle.JobFinished
	}
	a.changed()
}

// unchanged says whether a write would change nothing.
func unchanged(a, b v1beta1.LoadTestStatus) bool { return equality.Semantic.DeepEqual(a, b) }
