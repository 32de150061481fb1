package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/assemble"
	"github.com/loadtest-dev/loadtest-operator/loadworker/attack"
	"github.com/loadtest-dev/loadtest-operator/loadworker/background"
)

// ErrUnfinished is a worker that was ended before its run was.
var ErrUnfinished = errors.New("ended before the run was finished")

// Config is what a worker is started with.
type Config struct {
	// Coordinator is the address, host:port, of the operator's coordinator.
	Coordinator string
	// CA is the certificate, in PEM, that the coordinator's is signed with.
	CA []byte
	// Dial opens a connection to it. Default: by TCP.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// TokenFile is where the worker's token is.
	TokenFile string
	// Run is the UID of the LoadTest, Worker the number of this worker.
	Run    string
	Worker int32
	// Assembly has the settings that are no part of the assignment.
	Assembly assemble.Config
	// Log is for people; nothing secret is in it. Default: no log.
	Log *slog.Logger
	// GiveUp is how long the coordinator may be unreachable beyond what the plan needs:
	// a worker holds its results for as long as the step that began last, and all
	// after it, may take, and GiveUp longer. Without an assignment it ends after
	// GiveUp, or when it was refused for longestRefusal. While it is connected it never
	// gives up, however long a run is held.
	// Default 10 minutes.
	GiveUp time.Duration
}

const (
	// snapshotEvery is how often a snapshot is sent, and firstSnapshot when the
	// first is: soon, since it shows that the step runs.
	snapshotEvery = time.Second
	firstSnapshot = 200 * time.Millisecond
	// shutdownTimeout is how long a worker that must end waits for its last
	// snapshot to be acknowledged. A pod has 30 s to end, in
	// which another replica may have to take over.
	shutdownTimeout = 25 * time.Second
)

func (c Config) withDefaults() Config {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.GiveUp == 0 {
		c.GiveUp = 10 * time.Minute
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
		config: c, log: c.Log, clock: newClock(time.Now()), patience: &l.patience, background: background.Start(),
		preparations: make(chan preparation), audits: make(chan *workerv1.AuditReadings), finals: map[int32]*workerv1.Snapshot{},
	}
	linkEnded := make(chan error, 1)
	go func() { linkEnded <- l.run(linked, l.stream) }()
	err = w.loop(ctx, linked, l.events, linkEnded)
	cancel()
	w.close()
	return err
}

// worker is the state that only its loop touches.
type worker struct {
	config         Config
	log            *slog.Logger
	clock          *clock
	background     *background.Thread // encodes live snapshots
	out            *outbox            // nil: no stream
	probesAnswered int                // on this stream
	packs          bool               // the coordinator at its other end reads packed histograms
	patience       *atomic.Int64

	assignment   *workerv1.Assignment // the first
	access       *assemble.Access     // where its connections may go to
	plan         []*workerv1.Step     // its steps, and those that were added
	preparations chan preparation
	assembly     *assemble.Assembly  // nil: not prepared
	readiness    *workerv1.Readiness // the latest; nil: none

	run          *attack.Execution
	stopOpening  context.CancelFunc  // of connections for the next step; nil: none are opened
	pendingStart *workerv1.StartStep // of a step that cannot start yet
	sequence     int64
	startedAt    time.Time // on the coordinator's clock
	finals       map[int32]*workerv1.Snapshot
	endedBefore  int32 // the steps with a lower index have ended
	shuttingDown bool

	audits       chan *workerv1.AuditReadings
	auditRound   int32              // that is asked for; 0: none
	stopAuditing context.CancelFunc // nil: nothing is read

	stopped, cut bool // the running step, by the coordinator or by the worker itself
}

// loop handles one event after another until the run is finished.
func (w *worker) loop(ctx, linked context.Context, events <-chan event, linkEnded <-chan error) error {
	snapshots := time.NewTimer(snapshotEvery)
	defer snapshots.Stop()
	probes := time.NewTicker(probeEvery)
	defer probes.Stop()
	stop, timeout := ctx.Done(), (<-chan time.Time)(nil)
	for {
		select {
		case e := <-events:
			finished, started := w.onEvent(linked, e)
			if finished {
				return nil
			}
			if started {
				snapshots.Reset(time.Until(w.run.Start()) + firstSnapshot)
			}
		case p := <-w.preparations:
			w.onPrepared(p)
			w.watchAudits(linked)
		case r := <-w.audits:
			w.onAuditReadings(r)
		case <-w.runDone():
			w.finishStep(linked)
		case <-snapshots.C:
			w.snapshot(false)
			snapshots.Reset(snapshotEvery)
		case <-probes.C:
			w.probe()
		case err := <-linkEnded:
			return w.giveUp(err)
		case <-stop:
			stop, timeout = nil, time.After(shutdownTimeout)
			w.shutDown()
		case <-timeout:
			return ErrUnfinished
		}
		if w.hasHandedOver() {
			return ErrUnfinished
		}
	}
}

// hasHandedOver says whether a worker that must end has nothing left to hand over.
func (w *worker) hasHandedOver() bool { return w.shuttingDown && w.run == nil && len(w.finals) == 0 }

// runDone is nil, which is never ready, while no step runs.
func (w *worker) runDone() <-chan struct{} {
	if w.run == nil {
		return nil
	}
	return w.run.Done()
}

// onEvent handles an event of the link. finished is the end of the run; started
// says that a step was started.
func (w *worker) onEvent(ctx context.Context, e event) (finished, started bool) {
	switch {
	case e.connected != nil:
		w.onConnected(e.connected)
	case e.lost != nil:
		w.log.Warn("session lost", "error", e.lost.Error())
		w.out = nil
	case e.message != nil:
		return w.onMessage(ctx, e.message, e.received)
	}
	return false, false
}

// onConnected sends everything again: what was measured before the readiness, so that
// a coordinator that has the readiness has also which step the worker is in. A start that
// another coordinator asked for is forgotten; this one may choose another.
func (w *worker) onConnected(out *outbox) {
	w.out, w.probesAnswered, w.packs, w.pendingStart = out, 0, false, nil
	w.endAuditing() // a coordinator that still needs it says so again
	w.send("hello", &workerv1.SessionRequest{Message: &workerv1.SessionRequest_Hello{Hello: &workerv1.Hello{
		Run: w.config.Run, Worker: w.config.Worker, Protocol: workerv1.ProtocolVersion, Version: w.config.Assembly.Version,
	}}})
	w.probe()
	for _, s := range w.finals {
		w.sendSnapshot(s)
	}
	w.sendReadiness()
	w.snapshot(false)
}

func (w *worker) onMessage(ctx context.Context, m *workerv1.SessionResponse, received time.Time) (finished, started bool) {
	switch m := m.GetMessage().(type) {
	case *workerv1.SessionResponse_ClockReply:
		w.onClockReply(m.ClockReply, received)
		return false, w.startPending()
	case *workerv1.SessionResponse_Assignment:
		w.assign(ctx, m.Assignment)
	case *workerv1.SessionResponse_AddSteps:
		w.addSteps(ctx, m.AddSteps.GetSteps())
	case *workerv1.SessionResponse_Redirect:
		w.redirect(m.Redirect)
	case *workerv1.SessionResponse_StartStep:
		w.pendingStart = m.StartStep
		return false, w.startPending()
	case *workerv1.SessionResponse_StopStep:
		w.stopStep(m.StopStep.GetStep())
	case *workerv1.SessionResponse_Acknowledge:
		w.acknowledge(m.Acknowledge.GetBefore())
	case *workerv1.SessionResponse_ReadAudits:
		w.endAuditing()
		w.auditRound = m.ReadAudits.GetRound()
		w.watchAudits(ctx)
	case *workerv1.SessionResponse_Finish:
		w.log.Info("run finished")
		return true, false
	}
	return false, false
}

func (w *worker) assign(ctx context.Context, a *workerv1.Assignment) {
	if w.assignment != nil {
		if !isExtended(w.assignment, a) {
			w.log.Error("a second assignment differs from the first and is ignored")
			return
		}
		w.redirect(destinationsOf(a))
		w.addSteps(ctx, a.GetSteps()) // that were added while there was no session
		return
	}
	if a.GetRun() != w.config.Run || a.GetWorker() != w.config.Worker {
		w.log.Error("assignment of another worker is ignored", "run", a.GetRun(), "worker", a.GetWorker())
		return
	}
	w.assignment, w.plan = a, a.GetSteps()
	w.waitAsLongAs(0)
	w.log.Info("assigned", "target", a.GetTarget().GetUrl(), "steps", len(a.GetSteps()), "workers", a.GetWorkers())
	config := w.config.Assembly
	if access, err := assemble.NewAccess(a); err == nil { // or New refuses the assignment
		w.access, config.Access = access, access
	}
	go prepare(ctx, a, config, w.preparations)
}

// destinationsOf are where the connections of an assignment may go to.
func destinationsOf(a *workerv1.Assignment) *workerv1.Redirect {
	r := &workerv1.Redirect{Target: a.GetTarget().GetDestinations(), Control: a.GetControl().GetTarget().GetDestinations()}
	for _, t := range a.GetOtherTargets() {
		r.OtherTargets = append(r.OtherTargets, t.GetDestinations())
	}
	return r
}

// redirect replaces where connections may go to.
func (w *worker) redirect(r *workerv1.Redirect) {
	if w.access == nil {
		return
	}
	if err := w.access.Redirect(w.assignment, r); err != nil {
		w.log.Error("redirection is ignored", "error", err.Error())
	}
}

// isExtended says whether an assignment is the first one, with or without more steps.
func isExtended(first, a *workerv1.Assignment) bool {
	if len(a.GetSteps()) < len(first.GetSteps()) {
		return false
	}
	a, first = plain(a), plain(first)
	a.Steps = a.GetSteps()[:len(first.GetSteps())]
	return proto.Equal(first, a)
}

// plain is an assignment without what may be replaced: where its connections may go to.
func plain(a *workerv1.Assignment) *workerv1.Assignment {
	a = proto.CloneOf(a)
	for _, t := range append(slices.Clone(a.GetOtherTargets()), a.GetTarget(), a.GetControl().GetTarget()) {
		if t != nil {
			t.Destinations = nil
		}
	}
	return a
}

// onPrepared sends the readiness if it has changed.
func (w *worker) onPrepared(p preparation) {
	r := p.readiness()
	w.assembly = p.assembly
	if proto.Equal(r, w.readiness) {
		return
	}
	w.log.Info("readiness", "ready", r.GetReady(), "reason", r.GetReason(), "message", r.GetMessage())
	w.readiness = r
	w.sendReadiness()
}

// sendReadiness sends the readiness once it is known. A worker is ready only once
// it has the coordinator's time, without which it could not start a step.
func (w *worker) sendReadiness() {
	if w.readiness == nil || (w.readiness.GetReady() && w.probesAnswered < firstProbes) {
		return
	}
	w.send("readiness", &workerv1.SessionRequest{Message: &workerv1.SessionRequest_Readiness{Readiness: w.readiness}})
}

func (w *worker) sendSnapshot(s *workerv1.Snapshot) {
	w.send(fmt.Sprintf("snapshot %d", s.GetStep()), &workerv1.SessionRequest{Message: &workerv1.SessionRequest_Snapshot{Snapshot: s}})
}

// send puts a message into the outbox, if there is a stream.
func (w *worker) send(key string, m *workerv1.SessionRequest) {
	if w.out != nil {
		w.out.put(key, m)
	}
}

// probe asks for the coordinator's time.
func (w *worker) probe() {
	w.send("probe", &workerv1.SessionRequest{Message: &workerv1.SessionRequest_ClockProbe{
		ClockProbe: &workerv1.ClockProbe{SentUnixNanos: w.clock.encode(time.Now())},
	}})
}

// onClockReply adds the answer to a probe. The first on a stream replaces earlier
// ones: the stream may lead to another coordinator.
func (w *worker) onClockReply(r *workerv1.ClockReply, received time.Time) {
	if w.probesAnswered == 0 {
		w.clock.reset()
	}
	w.packs = r.GetPacked()
	w.clock.add(w.clock.decode(r.GetProbeSentUnixNanos()), received, r.GetNowUnixNanos())
	if w.probesAnswered++; w.probesAnswered < firstProbes {
		w.probe()
	}
	if w.probesAnswered == firstProbes && w.readiness.GetReady() {
		w.sendReadiness()
	}
}

// shutDown begins the end: it cuts the step, so that its last snapshot can be sent.
func (w *worker) shutDown() {
	w.log.Info("must end: cutting the step and sending what was measured")
	w.shuttingDown = true
	if w.run != nil && !w.run.Ended() {
		w.cut = !w.stopped
		w.run.Cut()
	}
}

// close ends what still runs.
func (w *worker) close() {
	w.background.Close()
	w.endOpening()
	w.endAuditing()
	if w.run != nil {
		w.run.Cut()
		<-w.run.Done()
	}
	if w.assembly != nil {
		w.assembly.Close()
	}
}
