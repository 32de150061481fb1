package dial

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/address"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// An attempt that waits for the target leaves its place to another.
func TestOpeningsThatWaitDoNotCount(t *testing.T) {
	freed := 0
	o := NewOpenings(2, func() { freed++ })
	first, a := o.Begin(t.Context())
	second, b := o.Begin(t.Context())
	full := func(want bool, times int, when string) {
		t.Helper()
		if o.Full() != want || freed != times {
			t.Errorf("%s: full %v, freed %d times; want %v, %d", when, o.Full(), freed, want, times)
		}
	}
	full(true, 0, "two attempts")
	goOn := Waiting(first)
	full(false, 1, "one of them waits")
	wait := Waiting(second)
	full(false, 1, "both wait")
	goOn()
	wait()
	full(true, 1, "both go on")
	_, c := o.Begin(t.Context())
	third := Waiting(first)
	full(true, 1, "a third is begun, and one waits")
	a.End()
	third()
	full(true, 1, "the one that waited has ended")
	b.End()
	b.End()
	full(false, 1, "another has ended")
	Waiting(second)()
	full(false, 1, "one that has ended cannot wait")
	c.End()
	if n := o.busy.Load(); n != 0 {
		t.Errorf("%d are counted after the last has ended", n)
	}
}

// However many attempts can go on at once, few do, and all of them in the end: after a wait, an
// end, or when the connection is open.
func TestFewOpeningsGoOnAtOnce(t *testing.T) {
	const attempts = 10 * stepsAtOnce
	o := NewOpenings(1, func() {})
	answered, went, next := make(chan struct{}), make(chan *Opening), make(chan struct{})
	for range attempts {
		ctx, a := o.Begin(t.Context())
		goOn := Waiting(ctx)
		go func() {
			<-answered
			goOn()
			went <- a
			<-next
			Waiting(ctx)
		}()
	}
	close(answered)
	var first []*Opening
	for range stepsAtOnce {
		first = append(first, <-went)
	}
	for len(o.steps) < stepsAtOnce || o.busy.Load() < attempts {
		runtime.Gosched() // until all others wait for a step
	}
	select {
	case <-went:
		t.Error("more go on than may at once")
	default:
	}
	first[0].End()
	first[1].Opened()
	<-went
	<-went
	close(next)
	for range attempts - stepsAtOnce - 2 {
		<-went
	}
}

// Goroutines of a library may use a connection together before it is open.
func TestOpeningGivesBackAllThatItTook(t *testing.T) {
	o := NewOpenings(1, func() {})
	ctx, a := o.Begin(t.Context())
	first := Waiting(ctx)
	for range stepsAtOnce {
		o.steps <- struct{}{}
	}
	var both sync.WaitGroup
	both.Go(first)
	for o.busy.Load() < 1 {
		runtime.Gosched() // until it waits for a step
	}
	second := Waiting(ctx)
	both.Go(second)
	for o.busy.Load() < 1 {
		runtime.Gosched()
	}
	for range stepsAtOnce {
		<-o.steps
	}
	both.Wait()
	a.End()
	if n, busy := len(o.steps), o.busy.Load(); n != 0 || busy != 0 {
		t.Errorf("%d go on, and %d are counted, after the end", n, busy)
	}
}

func TestNoOpeningsCountNothing(t *testing.T) {
	var none *Openings
	ctx, a := none.Begin(t.Context())
	Waiting(ctx)()
	a.End()
	if none.Full() {
		t.Error("no openings are full")
	}
}

// While a target does not answer a handshake, the attempt waits. The read that ends it is this
// side's again, and later ones count nothing.
func TestHandshakeWaitsForTheTarget(t *testing.T) {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	defer func() { _ = lis.Close() }()
	d, err := NewDialer(Config{URL: "https://" + lis.Addr().String(), Policy: address.Policy{AllowSpecial: true}, TLS: &tls.Config{MinVersion: tls.VersionTLS12}})
	must.Succeed(t, err)
	freed := make(chan struct{}, 10)
	o := NewOpenings(1, func() { freed <- struct{}{} })
	ctx, a := o.Begin(t.Context())
	ended := make(chan error)
	go func() {
		_, err := d.Dial(ctx)
		a.End()
		ended <- err
	}()
	conn, err := lis.Accept()
	must.Succeed(t, err)
	<-freed // while it connects
	<-freed // while it writes
	if _, err := io.ReadFull(conn, make([]byte, 64)); err != nil {
		t.Fatal(err)
	}
	<-freed // while it waits for the answer to what was read
	if o.Full() {
		t.Error("an attempt that waits counts")
	}
	_ = conn.Close()
	if err := <-ended; err == nil {
		t.Error("a connection without a handshake is open")
	}
	if n := o.busy.Load(); n != 0 {
		t.Errorf("%d are counted after the end", n)
	}
}

// A lookup of the target's name is no work of this side's.
func TestLookupIsAWait(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan struct{})
	d := newTestDialer(t, Config{URL: "http://a.test:1", Lookup: func(context.Context, string) ([]netip.Addr, error) {
		close(asked)
		<-answer
		return nil, nil
	}})
	freed := make(chan struct{}, 1)
	o := NewOpenings(1, func() { freed <- struct{}{} })
	ctx, a := o.Begin(t.Context())
	go func() {
		_, _ = d.Dial(ctx)
		a.End()
		close(freed)
	}()
	<-asked
	<-freed
	close(answer)
	<-freed
	if o.Full() {
		t.Error("an attempt that has ended counts")
	}
}
