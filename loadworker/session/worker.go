package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"google.golang.org/protobuf/proto"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/attack"
	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
)

// ErrUnfinished is a worker that was ended before its run was.
var ErrUnfinished = errors.New("ended before the run was finished")

// Config is what a worker needs to know.
type Config struct {
	// Coordinator is the address, host:port, of the operator's coordinator.
	Coordinator string
	// CA is the certificate, in PEM, that the coordinator's is signed with.
	CA []byte
	// TokenFile is where the worker's token is.
	TokenFile string
	// Run is the UID of the LoadTest, Worker the number of this worker.
	Run    string
	Worker int32
	// Version is the build.
	Version string
	// Log takes what a person may want to know; nothing secret is in it.
	Log *slog.Logger
	// GiveUp is how long the coordinator may be unreachable. Default 10 minutes.
	GiveUp time.Duration
	// Lookup resolves the target's name. Default: the system's resolver.
	Lookup dial.Lookup
	// Limits are what the system grants. Default: ask it.
	Limits func() Limits
}

const (
	// snapshotEvery is how often a snapshot is sent, and firstSnapshot when the
	// first is: soon, since it shows that the step runs.
	snapshotEvery = time.Second
	firstSnapshot = 200 * time.Millisecond
	// farewell is how long a worker that must end waits for its last snapshot to
	// be acknowledged. A pod has 30 s to end.
	farewell = 10 * time.Second
)

func (c Config) withDefaults() Config {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.GiveUp == 0 {
		c.GiveUp = 10 * time.Minute
	}
	if c.Limits == nil {
		c.Limits = SystemLimits
	}
	return c
}

// Run is the life of a worker. It returns nil once the coordinator says that the
// run is finished. When ctx ends it cuts the step, hands over what it measured,
// and returns ErrUnfinished.
func Run(ctx context.Context, c Config) error {
	c = c.withDefaults()
	l, err := newLink(c)
	if err != nil {
		return err
	}
	defer func() { _ = l.conn.Close() }()
	// The link outlives ctx: the last snapshot is sent after it has ended.
	linked, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w := &worker{
		config: c, log: c.Log, clock: newClock(time.Now()),
		prepared: make(chan prepared), finals: map[int32]*workerv1.Snapshot{},
	}
	gone := make(chan error, 1)
	go func() { gone <- l.run(linked, l.stream) }()
	err = w.loop(ctx, linked, l.events, gone)
	cancel()
	w.close()
	return err
}

// worker is the state that only its loop touches.
type worker struct {
	config Config
	log    *slog.Logger
	clock  *clock
	out    *outbox // nil: no stream
	asked  int     // probes answered on this stream

	assignment *workerv1.Assignment
	prepared   chan prepared
	plan       *plan
	readiness  *workerv1.Readiness // what was last to be said

	run       *attack.Execution
	warmUp    context.CancelFunc // ends the opening of connections for the next step
	waiting   *workerv1.StartStep
	sequence  int64
	startedAt time.Time // on the coordinator's clock
	finals    map[int32]*workerv1.Snapshot
	ended     int32 // steps below were ended
	leaving   bool
}

// loop does one thing after the other until the run is finished.
func (w *worker) loop(ctx, linked context.Context, events <-chan event, gone <-chan error) error {
	snapshots := time.NewTimer(snapshotEvery)
	defer snapshots.Stop()
	probing := time.NewTicker(probeEvery)
	defer probing.Stop()
	stop, left := ctx.Done(), (<-chan time.Time)(nil)
	for {
		select {
		case e := <-events:
			finished, started := w.handle(linked, e)
			if finished {
				return nil
			}
			if started {
				snapshots.Reset(time.Until(w.run.Start()) + firstSnapshot)
			}
		case p := <-w.prepared:
			w.learn(p)
		case <-w.runDone():
			w.finishStep(linked)
		case <-snapshots.C:
			w.snapshot(false)
			snapshots.Reset(snapshotEvery)
		case <-probing.C:
			w.probe()
		case err := <-gone:
			return err
		case <-stop:
			stop, left = nil, time.After(farewell)
			w.leave()
		case <-left:
			return ErrUnfinished
		}
		if w.leaving && w.run == nil && len(w.finals) == 0 {
			return ErrUnfinished
		}
	}
}

// runDone is nil, which is never ready, while no step runs.
func (w *worker) runDone() <-chan struct{} {
	if w.run == nil {
		return nil
	}
	return w.run.Done()
}

// handle takes what the link tells. finished is the end of the run; started says
// that a step was started.
func (w *worker) handle(ctx context.Context, e event) (finished, started bool) {
	switch {
	case e.connected != nil:
		w.connected(e.connected)
	case e.lost != nil:
		w.log.Warn("session lost", "error", e.lost.Error())
		w.out = nil
	case e.heard != nil:
		return w.hear(ctx, e.heard, e.at)
	}
	return false, false
}

// connected says everything again.
func (w *worker) connected(out *outbox) {
	w.out, w.asked = out, 0
	w.say("hello", &workerv1.SessionRequest{Message: &workerv1.SessionRequest_Hello{Hello: &workerv1.Hello{
		Run: w.config.Run, Worker: w.config.Worker, Protocol: workerv1.ProtocolVersion, Version: w.config.Version,
	}}})
	w.probe()
	for _, s := range w.finals {
		w.saySnapshot(s)
	}
	w.sayReadiness()
	w.snapshot(false)
}

func (w *worker) hear(ctx context.Context, m *workerv1.SessionResponse, at time.Time) (finished, started bool) {
	switch m := m.GetMessage().(type) {
	case *workerv1.SessionResponse_ClockReply:
		w.tick(m.ClockReply, at)
		return false, w.startWaiting()
	case *workerv1.SessionResponse_Assignment:
		w.assign(ctx, m.Assignment)
	case *workerv1.SessionResponse_StartStep:
		w.waiting = m.StartStep
		return false, w.startWaiting()
	case *workerv1.SessionResponse_StopStep:
		w.stopStep(m.StopStep.GetStep())
	case *workerv1.SessionResponse_Acknowledge:
		w.acknowledge(m.Acknowledge.GetBefore())
	case *workerv1.SessionResponse_Finish:
		w.log.Info("run finished")
		return true, false
	}
	return false, false
}

func (w *worker) assign(ctx context.Context, a *workerv1.Assignment) {
	if w.assignment != nil {
		if !proto.Equal(w.assignment, a) {
			w.log.Error("a second assignment differs from the first and is ignored")
		}
		return
	}
	if a.GetRun() != w.config.Run || a.GetWorker() != w.config.Worker {
		w.log.Error("assignment of another worker is ignored", "run", a.GetRun(), "worker", a.GetWorker())
		return
	}
	w.assignment = a
	w.log.Info("assigned", "target", a.GetTarget().GetUrl(), "steps", len(a.GetSteps()), "workers", a.GetWorkers())
	go prepare(ctx, a, w.config, func(p prepared) {
		select {
		case w.prepared <- p:
		case <-ctx.Done():
		}
	})
}

// learn takes news of the preparation.
func (w *worker) learn(p prepared) {
	r := &workerv1.Readiness{Ready: p.plan != nil}
	if p.refusal != nil {
		r.Reason, r.Message = p.refusal.reason, p.refusal.message()
	}
	if w.plan = p.plan; p.plan != nil {
		r.PreflightAnswers = p.plan.answers()
	}
	if proto.Equal(r, w.readiness) {
		return
	}
	w.log.Info("readiness", "ready", r.GetReady(), "reason", r.GetReason(), "message", r.GetMessage())
	w.readiness = r
	w.sayReadiness()
}

// sayReadiness says it once it is known; that the worker is ready only once it
// knows the time, without which it could not start anything.
func (w *worker) sayReadiness() {
	if w.readiness == nil || (w.readiness.GetReady() && w.asked < probes) {
		return
	}
	w.say("readiness", &workerv1.SessionRequest{Message: &workerv1.SessionRequest_Readiness{Readiness: w.readiness}})
}

func (w *worker) say(key string, m *workerv1.SessionRequest) {
	if w.out != nil {
		w.out.put(key, m)
	}
}

func (w *worker) saySnapshot(s *workerv1.Snapshot) {
	w.say(fmt.Sprintf("snapshot %d", s.GetStep()), &workerv1.SessionRequest{Message: &workerv1.SessionRequest_Snapshot{Snapshot: s}})
}

// probe asks for the coordinator's time.
func (w *worker) probe() {
	w.say("probe", &workerv1.SessionRequest{Message: &workerv1.SessionRequest_ClockProbe{
		ClockProbe: &workerv1.ClockProbe{SentUnixNanos: w.clock.mark(time.Now())},
	}})
}

// tick takes the answer to a probe. The first on a stream ends the trust in
// earlier ones: it may be another coordinator.
func (w *worker) tick(r *workerv1.ClockReply, at time.Time) {
	if w.asked == 0 {
		w.clock.forget()
	}
	w.clock.add(w.clock.unmark(r.GetProbeSentUnixNanos()), at, r.GetNowUnixNanos())
	if w.asked++; w.asked < probes {
		w.probe()
	}
	if w.asked == probes && w.readiness.GetReady() {
		w.sayReadiness()
	}
}

// leave begins the end: what runs is cut, so that its last snapshot can be sent.
func (w *worker) leave() {
	w.log.Info("told to end: cutting the step and sending what was measured")
	w.leaving = true
	if w.run != nil {
		w.run.Cut()
	}
}

// close ends what still runs.
func (w *worker) close() {
	if w.warmUp != nil {
		w.warmUp()
	}
	if w.run != nil {
		w.run.Cut()
		<-w.run.Done()
	}
	if w.plan != nil {
		w.plan.runner.Close()
	}
}
