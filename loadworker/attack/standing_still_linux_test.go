package attack

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

// A target that stands still delays no arrival by the generator's fault, whatever it speaks
// and wherever it stands still: more are under way, or wait for room on the connections that
// they share, than connections may be opened at once.
func TestArrivalsDoNotWaitForTheHandshakesOfOthers(t *testing.T) {
	const hits = 2 * openAtOnce
	for name, target := range map[string]func(*testing.T, string) still{
		"accepts connections and never answers": func(t *testing.T, url string) still {
			g := gate(t, url)
			g.goOn = nil
			return g
		},
		"answers when all have come": gate,
		"has no room for a connection": func(t *testing.T, url string) still {
			return still{url: moved(t, url, scripted.FullBacklog(t).String())}
		},
		"has a name server that does not answer": func(t *testing.T, url string) still {
			ended := make(chan struct{})
			t.Cleanup(func() { close(ended) })
			return still{url: strings.Replace(url, "127.0.0.1", "a.test", 1), lookup: func(context.Context, string) ([]netip.Addr, error) {
				<-ended
				return nil, errors.New("the test is over")
			}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			forEachArrivalsDriver(t, func(t *testing.T, d testDriver) {
				o := newOracle(t, nil)
				var at still
				r := d.runner(t, setup{url: o.URL, timeout: time.Hour, front: func(url string) (string, dial.Lookup) {
					at = target(t, url)
					return at.url, at.lookup
				}})
				x := r.Start(StepShare{Share: all(hits), Total: hits, Load: Arrivals{Rate: 300e6, Duration: time.Hour}}, time.Now())
				until(t, x, func(s *measure.Measurement) bool { return s.Due-s.Unsent+s.UnsentWithoutRoom == hits })
				if at.goOn != nil {
					at.goOn()
					until(t, x, func(s *measure.Measurement) bool {
						return s.Requests[0].Outcomes[measure.Success]+s.UnsentWithoutRoom == hits
					})
				}
				x.Cut()
				s := finish(t, x)
				if shares := d.http2() && d.engine == "event loops"; !shares && s.UnsentWithoutRoom > 0 {
					t.Errorf("%d hits found no room, on connections of their own", s.UnsentWithoutRoom)
				}
			})
		})
	}
}

// still is a target that stands still, and stands before a server.
type still struct {
	url    string
	lookup dial.Lookup
	goOn   func() // nil: it never does
}

// gate passes nothing on until it is opened.
func gate(t *testing.T, to string) still {
	t.Helper()
	opened, closed := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(closed) })
	front := scripted.ServeAll(t, func(conn *net.TCPConn, _ *bufio.Reader) {
		select {
		case <-opened:
			relay(conn, hostOf(to))
		case <-closed:
		}
	})
	return still{url: moved(t, to, hostOf(front)), goOn: sync.OnceFunc(func() { close(opened) })}
}

func hostOf(url string) string {
	_, host, _ := strings.Cut(url, "://")
	return host
}

// moved returns a URL with another host and port.
func moved(t *testing.T, text, to string) string {
	t.Helper()
	u, err := url.Parse(text)
	must.Succeed(t, err)
	u.Host = to
	return u.String()
}

// relay passes the bytes of a connection on, to and from a server.
func relay(conn net.Conn, to string) {
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(server, conn)
		_ = server.Close()
	}()
	_, _ = io.Copy(conn, server)
}
