package setup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// simulated is a target in a bubble, whose answers take a while of its time.
type simulated struct {
	transport.Client
	takes time.Duration
	body  string
	err   error // instead of an answer

	mu    sync.Mutex
	paths []string
}

func (s *simulated) NewConn() transport.Conn { return &simulatedConn{target: s} }

type simulatedConn struct {
	transport.Conn
	target *simulated
}

func (l *simulatedConn) Do(ctx context.Context, r *transport.Request, _ time.Time) (transport.Response, error) {
	l.target.mu.Lock()
	l.target.paths = append(l.target.paths, string(r.Path))
	l.target.mu.Unlock()
	select {
	case <-time.After(l.target.takes):
		l.target.mu.Lock()
		err := l.target.err
		l.target.mu.Unlock()
		if err != nil {
			return transport.Response{}, err
		}
		return transport.Response{Status: 200, Size: int64(len(l.target.body)), Body: []byte(l.target.body)}, nil
	case <-ctx.Done():
		return transport.Response{}, ctx.Err()
	}
}

func (*simulatedConn) Interrupt() {}

func (*simulatedConn) Close() {}

// simulate is a target and what a worker, number 1 of 3, sends to it.
func simulate(t *testing.T, path string, tables ...*source.Table) (*simulated, Config) {
	t.Helper()
	src, err := source.New(source.Config{Tables: tables, Requests: []source.Request{{Name: "r", Weight: 1, Method: "GET", Path: path}}})
	must.Succeed(t, err)
	s := &simulated{takes: 90 * time.Millisecond, body: `{"code":"x"}`}
	return s, Config{Source: src, Client: s, Timeout: time.Minute, Worker: 1, Workers: 3}
}

func TestFillTellsEverySecondHowManyWereSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := simulate(t, "/")
		var reported []int64
		fill := Fill{Number: func(j int64) int64 { return j }, Count: 25 * FillConnections}
		must.Succeed(t, fill.Run(t.Context(), c, func(sent int64, _ error) { reported = append(reported, sent) }))
		// Each connection has 11 answers after a second, 22 after two, and all after 2.25.
		same.As(t, "reported", []int64{0, 11 * FillConnections, 22 * FillConnections}, reported)
	})
}

// A target that is away for a while does not end the fill: each request is sent until
// it has a response, and what hinders it is said until then.
func TestFillGoesOnWhenTheTargetIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const away = time.Minute
		s, c := simulate(t, "/")
		s.err = &failure.Error{Phase: failure.Dialing, Err: syscall.ECONNREFUSED}
		time.AfterFunc(away, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.err = nil
		})
		begin, hindered, last := time.Now(), 0, error(nil)
		fill := Fill{Number: func(j int64) int64 { return j }, Count: 25 * FillConnections}
		err := fill.Run(t.Context(), c, func(_ int64, unreachable error) {
			if last = unreachable; last != nil {
				hindered++
				if want := `setup.fill: request "r": dial: connection refused; it is sent again`; last.Error() != want {
					t.Errorf("hindered by %q, want %q", last, want)
				}
			}
		})
		if err != nil || last != nil {
			t.Errorf("Run = %v, hindered at last by %v; want neither", err, last)
		}
		if took := time.Since(begin); took < away || took > away+maxTryAgain+5*time.Second {
			t.Errorf("the fill took %v with a target that was away for %v", took, away)
		}
		if hindered < 59 {
			t.Errorf("said %d times that the target is away, want each second", hindered)
		}
		if tries := len(s.paths) - int(fill.Count); tries > FillConnections*(6+int(away/maxTryAgain)) {
			t.Errorf("%d tries while the target was away: too many", tries)
		}
	})
}

// A sequential table treats the FillConnections of a warm-up as users. The random values
// of the warm-up are not those of a step.
func TestWarmUpSendsAsUsersDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, err := source.NewTable("d", []string{"row"}, source.Sequential)
		must.Succeed(t, err)
		for i := range 100 {
			must.Succeed(t, table.Add([]string{fmt.Sprint(i)}))
		}
		s, c := simulate(t, "/${user}/${worker}/${seq}/${row}/${rand:0-1000000000}", table)
		WarmUp{Duration: 5*s.takes - 1, Connections: 2}.Run(t.Context(), c)
		var want, got []string
		for k := range 5 {
			for user := range 2 {
				want = append(want, fmt.Sprintf("/%d/1/%d/%d", user, 3*(2*k+user)+1, 2*k+user))
			}
		}
		for _, path := range s.paths {
			end := strings.LastIndex(path, "/")
			got = append(got, path[:end])
			var b source.Buffer
			var v source.Vars
			if _, err := fmt.Sscanf(path, "/%d/%d/%d/", &v.User, &v.Worker, &v.Seq); err != nil {
				t.Fatal(err)
			}
			if c.Source.Render(&b, 0, v); strings.HasSuffix(string(b.Request.Path), path[end:]) {
				t.Errorf("%s draws what step 0 draws for the same number", path)
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		same.As(t, "sent", want, got)
	})
}

// A target that cannot be reached is not asked as fast as it refuses.
func TestWarmUpPausesAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := simulate(t, "/")
		s.takes, s.err = time.Millisecond, &failure.Error{Phase: failure.Dialing, Err: syscall.ECONNREFUSED}
		WarmUp{Duration: 10*(failedPause+s.takes) - 1, Connections: 1}.Run(t.Context(), c)
		if len(s.paths) != 10 {
			t.Errorf("%d requests in a second, want 10", len(s.paths))
		}
	})
}

func TestFillBoundsItsConnections(t *testing.T) {
	for connections, want := range map[int]int{0: FillConnections, 1: 1, 5: 5, FillConnections + 1: FillConnections} {
		synctest.Test(t, func(t *testing.T) {
			s, c := simulate(t, "/")
			ctx, cancel := context.WithTimeout(t.Context(), s.takes-1)
			defer cancel()
			f := Fill{Number: func(j int64) int64 { return j }, Count: 1000, Connections: connections}
			if err := f.Run(ctx, c, func(int64, error) {}); !errors.Is(err, context.DeadlineExceeded) || len(s.paths) != want {
				t.Errorf("%d connections send %d requests at once, want %d; %v", connections, len(s.paths), want, err)
			}
		})
	}
}

func TestWarmUpBoundsItsConnections(t *testing.T) {
	for connections, want := range map[int]int{-1: 1, 0: 1, 1: 1, MaxConnections: MaxConnections, MaxConnections + 1: MaxConnections, 1 << 30: MaxConnections} {
		synctest.Test(t, func(t *testing.T) {
			s, c := simulate(t, "/")
			WarmUp{Duration: s.takes - 1, Connections: connections}.Run(t.Context(), c)
			if len(s.paths) != want {
				t.Errorf("%d connections send %d requests at once, want %d", connections, len(s.paths), want)
			}
		})
	}
}
