package socket

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// What had come by the deadline is read after it, and nothing that comes while it is read: the
// other side may send without end.
func TestWhatHasComeIsReadAfterTheDeadline(t *testing.T) {
	for name, secured := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			client, socket, server, _ := pair(t, secured)
			if _, err := io.WriteString(server, "in time"); err != nil {
				t.Fatal(err)
			}
			scripted.AwaitEvent(t, socket, unix.POLLIN)
			must.Succeed(t, client.SetDeadline(time.Unix(1, 0)))
			var r LateReader
			got, b := "", make([]byte, 4)
			for range 100 {
				n, err := r.Read(client, b, func(to time.Time) bool {
					_, _ = io.WriteString(server, "too late")
					return client.SetDeadline(to) == nil
				})
				if got += string(b[:n]); err != nil {
					if !errors.Is(err, os.ErrDeadlineExceeded) {
						t.Error(err)
					}
					break
				}
				_ = client.SetDeadline(time.Unix(1, 0))
			}
			// A read may take with the last bytes in time some that follow them. Over TLS there
			// are fewer bytes of text than have come.
			if most := len("in time") + 30; len(got) < len("in time") || got[:7] != "in time" || len(got) > most {
				t.Errorf("%q was read, want what had come", got)
			}
		})
	}
}

// Nothing has come, or the connection was interrupted.
func TestADeadlineThatIsPastEndsARead(t *testing.T) {
	for name, bytes := range map[string]string{"nothing has come": "", "it is not extended": "x"} {
		t.Run(name, func(t *testing.T) {
			client, _, server, _ := pair(t, false)
			if bytes != "" {
				_, _ = io.WriteString(server, bytes)
				scripted.AwaitEvent(t, client, unix.POLLIN)
			}
			_ = client.SetDeadline(time.Unix(1, 0))
			n, err := new(LateReader).Read(client, make([]byte, 9), func(time.Time) bool {
				if bytes == "" {
					t.Error("the deadline is extended, though nothing has come")
				}
				return false
			})
			var timeout net.Error
			if n != 0 || !errors.As(err, &timeout) || !timeout.Timeout() {
				t.Errorf("%d bytes, %v; want a timeout", n, err)
			}
		})
	}
}
