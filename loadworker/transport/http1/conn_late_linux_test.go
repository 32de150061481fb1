package http1

import (
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// A goroutine that stood still beyond the deadline finds the response in the socket, or a
// timeout.
func TestAConnReadsWhatHasComeBeforeItsDeadlineExpires(t *testing.T) {
	for kind, way := range senders(t) {
		for name, tt := range map[string]struct {
			answers     bool
			interrupted bool
			want        error
		}{
			"answered":    {answers: true},
			"silent":      {want: os.ErrDeadlineExceeded},
			"interrupted": {answers: true, interrupted: true, want: failure.ErrInterrupted},
		} {
			d := way.client(t, scripted.Serve(t, scripted.Stay(func() script {
				if tt.answers {
					return says(scripted.Empty)
				}
				return says()
			}())))
			s, isConn := way.from(d).(connSender)
			if !isConn {
				continue
			}
			t.Run(kind+", "+name, func(t *testing.T) {
				must.Succeed(t, s.open())
				c := s.Conn
				c.response.begin(scripted.Get)
				sent := AppendRequest(nil, scripted.Get, "a.test", "")
				c.secured = make([]byte, securedBuffer)
				if _, err := c.net.Write(sent); err != nil {
					t.Fatal(err)
				}
				if tt.answers {
					scripted.AwaitEvent(t, c.net, unix.POLLIN)
				}
				past := time.Unix(1, 0)
				if tt.interrupted {
					c.Interrupt()
				} else {
					c.setDeadline(time.Now(), past)
				}
				await := func() error { return c.awaitSecured(past) }
				if c.raw != nil {
					await = func() error { return c.await(past) }
				}
				err := await()
				if err != nil {
					err = c.failed(err)
				}
				if !errors.Is(err, tt.want) || c.response.parser.done() != (tt.want == nil) {
					t.Errorf("%v, whole response %v; want %v", err, c.response.parser.done(), tt.want)
				}
			})
		}
	}
}
