package assemble

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"encoding/pem"

	"github.com/google/go-cmp/cmp"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// arrivals is a step of 40 requests in a tenth of a second. Its window does not close before run cuts it.
func arrivals() *workerv1.Step {
	return &workerv1.Step{
		Total: 40, Share: &workerv1.Share{Stride: 1, Count: 40},
		Load: &workerv1.Step_Arrivals{Arrivals: &workerv1.Arrivals{TotalRateMicros: 400e6, DurationNanos: int64(time.Hour)}},
	}
}

// served starts a server over a protocol, and returns the target that speaks to it.
func served(t *testing.T, protocol string) (*workertest.Target, *workerv1.Target) {
	t.Helper()
	var protocols http.Protocols
	target := &workerv1.Target{TimeoutNanos: int64(time.Minute), AllowSpecialAddresses: true}
	start := (*httptest.Server).Start
	switch protocol {
	case "HTTP/1.1 over TLS", "HTTP/2 over TLS":
		protocols.SetHTTP1(true)
		protocols.SetHTTP2(true)
		start = func(s *httptest.Server) { s.EnableHTTP2 = true; s.StartTLS() }
	case "HTTP/2":
		protocols.SetUnencryptedHTTP2(true)
	default:
		protocols.SetHTTP1(true)
	}
	if protocol == "HTTP/2" || protocol == "HTTP/2 over TLS" {
		target.Protocol = workerv1.Protocol_PROTOCOL_HTTP2
	}
	s := workertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if want := target.Protocol == workerv1.Protocol_PROTOCOL_HTTP2; (r.ProtoMajor == 2) != want || (r.TLS != nil) != (len(protocol) > 8) {
			t.Errorf("%s: got a request by %s, TLS %v", protocol, r.Proto, r.TLS != nil)
		}
		if r.URL.Path == "/500" {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}, func(s *httptest.Server) {
		s.Config.Protocols = &protocols
		start(s)
	})
	target.Url = s.URL
	if c := s.Certificate(); c != nil {
		ca := filepath.Join(t.TempDir(), "ca.crt")
		must.Succeed(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}), 0o600))
		target.Tls = &workerv1.TLS{CaFile: ca}
	}
	return s, target
}

// Over each protocol both drivers send what is due, and count what became of it alike.
func TestDriversAgreeOverAllProtocols(t *testing.T) {
	for _, protocol := range []string{"HTTP/1.1", "HTTP/1.1 over TLS", "HTTP/2", "HTTP/2 over TLS"} {
		for _, keepAlive := range []bool{true, false} {
			for _, driver := range []workerv1.Driver{workerv1.Driver_DRIVER_UNSPECIFIED, workerv1.Driver_DRIVER_VEGETA} {
				t.Run(fmt.Sprintf("%s, keep-alive %v, %v", protocol, keepAlive, driver), func(t *testing.T) {
					drive(t, protocol, keepAlive, driver)
				})
			}
		}
	}
}

// drive sends arrivals, half of which are answered with an error. What is due is sent, and
// what is sent is served.
func drive(t *testing.T, protocol string, keepAlive bool, driver workerv1.Driver) {
	t.Helper()
	s, target := served(t, protocol)
	target.DisableKeepAlive = !keepAlive
	a := workertest.Assignment("", arrivals())
	a.Target, a.Driver = target, driver
	a.Requests = append(a.Requests, &workerv1.Request{Name: "wrong", Weight: 1, Method: "POST", Path: "/500", Body: []byte("${seq}")})
	got := run(t, prepared(t, a, testConfig(), ignore))
	if (got.Engine == "vegeta") != (driver == workerv1.Driver_DRIVER_VEGETA) {
		t.Errorf("the engine is %q by %s", got.Engine, got.Transport)
	}
	want := counts{Due: [2]int64{20, 20}}
	want.Outcomes[0][measure.Success], want.Outcomes[1][measure.ServerError] = 20, 20
	if diff := cmp.Diff(want, countsOf(got)); diff != "" {
		t.Errorf("counts (-want +got):\n%s\n%v", diff, errorsOf(got))
	}
	s.Serves(t, 40)
}

// counts are those of a step of two requests.
type counts struct {
	Due      [2]int64
	Unsent   int64
	Outcomes [2][measure.NumOutcomes]int64
}

func countsOf(m *measure.Measurement) (c counts) {
	c.Unsent = m.Unsent
	for i, r := range m.Requests {
		c.Due[i], c.Outcomes[i] = r.Due, r.Outcomes
	}
	return c
}

func TestVegetaRefusesWhatItDoesNotDrive(t *testing.T) {
	s := workertest.NewTarget(t, nil)
	vegeta := func(change func(*workerv1.Assignment)) *workerv1.Assignment {
		a := workertest.Assignment(s.URL, arrivals())
		a.Driver = workerv1.Driver_DRIVER_VEGETA
		change(a)
		return a
	}
	for name, tt := range map[string]struct {
		a      *workerv1.Assignment
		reason string
		want   string
	}{
		"users": {
			a:      vegeta(func(a *workerv1.Assignment) { a.Steps = []*workerv1.Step{workertest.Burst(3, 1, 1)} }),
			reason: workerv1.ReasonInvalidSpec, want: "worker.driver: Vegeta drives rates, and step 3 has none; use driver Auto",
		},
		"users of a search": {
			a:      vegeta(func(a *workerv1.Assignment) { a.Largest = workertest.Burst(4, 1, 1) }),
			reason: workerv1.ReasonInvalidSpec, want: "worker.driver: Vegeta drives rates, and step 4 has none; use driver Auto",
		},
		"a proxy": {
			a:      vegeta(func(a *workerv1.Assignment) { a.Target.ProxyUrl = s.URL }),
			reason: workerv1.ReasonInvalidSpec, want: "worker.driver: Vegeta does not go through target.proxy; use driver Auto",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := refusal(t, tt.a, testConfig()); got.Reason != tt.reason || got.Error() != tt.want {
				t.Errorf("%s: %s; want %s: %s", got.Reason, got, tt.reason, tt.want)
			}
		})
	}
}
