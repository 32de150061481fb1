package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// start serves a target on loopback addresses that stay the same when it refuses
// connections for a while.
func start(t *testing.T, folder string) (x *target, url string) {
	t.Helper()
	x = &target{counts: counts{folder: folder}, plain: "127.0.0.1:0", secure: "127.0.0.1:0", exit: func() { t.Error("the target ended") }}
	must.Succeed(t, x.set(ok))
	t.Cleanup(func() {
		if err := x.set(refuse); err != nil {
			t.Error(err)
		}
	})
	return x, "http://" + x.plain
}

// get asks once, and returns the status or the error.
func get(url string) (int, error) {
	response, err := http.Get(url)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}

func mustCount(t *testing.T, x *target, name string, want count) {
	t.Helper()
	all, err := x.counts.all()
	must.Succeed(t, err)
	same.As(t, name+" is counted as", want, all[name])
}

func TestRequestsAreCountedByName(t *testing.T) {
	x, url := start(t, t.TempDir())
	var group sync.WaitGroup
	for i := range 100 {
		group.Go(func() {
			if code, err := get(fmt.Sprintf("%s/run-%d", url, i%2)); code != http.StatusOK {
				t.Errorf("status %d, %v", code, err)
			}
		})
	}
	group.Wait()
	mustCount(t, x, "run-0", count{Received: 50})
	mustCount(t, x, "run-1", count{Received: 50})
}

func TestCountOutlivesTheProcess(t *testing.T) {
	folder := t.TempDir()
	x, url := start(t, folder)
	if _, err := get(url + "/run"); err != nil {
		t.Fatal(err)
	}
	must.Succeed(t, x.set(refuse))
	x, url = start(t, folder)
	if _, err := get(url + "/run"); err != nil {
		t.Fatal(err)
	}
	mustCount(t, x, "run", count{Received: 2})
}

func TestPathThatIsNoNameIsNotCounted(t *testing.T) {
	x, url := start(t, t.TempDir())
	for _, path := range []string{"/", "/../run", "/a/b", "/.received", "/RUN"} {
		if code, err := get(url + path); code != http.StatusNotFound {
			t.Errorf("%s: status %d, %v; want 404", path, code, err)
		}
	}
	if all, err := x.counts.all(); err != nil || len(all) > 0 {
		t.Errorf("counts are %v, %v; want none", all, err)
	}
}

func TestWrongAnswersAreCounted(t *testing.T) {
	x, url := start(t, t.TempDir())
	must.Succeed(t, x.set(wrongly))
	if code, err := get(url + "/run"); code != http.StatusInternalServerError {
		t.Errorf("status %d, %v; want 500", code, err)
	}
	mustCount(t, x, "run", count{Received: 1, Wrong: 1})
}

func TestHangingTargetAnswersWhenTheModeChanges(t *testing.T) {
	x, url := start(t, t.TempDir())
	must.Succeed(t, x.set(hang))
	answered := make(chan int)
	go func() {
		code, _ := get(url + "/run")
		answered <- code
	}()
	for {
		all, err := x.counts.all()
		must.Succeed(t, err)
		if all["run"].Received == 1 {
			break
		}
	}
	select {
	case code := <-answered:
		t.Fatalf("answered %d while it hangs", code)
	default:
	}
	must.Succeed(t, x.set(ok))
	if code := <-answered; code != http.StatusOK {
		t.Errorf("status %d, want 200", code)
	}
}

func TestRefusingTargetHasNoListener(t *testing.T) {
	x, url := start(t, t.TempDir())
	must.Succeed(t, x.set(refuse))
	if _, err := get(url + "/run"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("error is %v, want connection refused", err)
	}
	must.Succeed(t, x.set(ok))
	if code, err := get(url + "/run"); code != http.StatusOK {
		t.Errorf("status %d, %v; want 200", code, err)
	}
	mustCount(t, x, "run", count{Received: 1})
}

func TestControl(t *testing.T) {
	x, url := start(t, t.TempDir())
	ended := 0
	x.exit = func() { ended++ }
	control := x.control()
	do := func(method, path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		control.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		return w
	}
	if w := do("PUT", "/mode?is=lost"); w.Code != http.StatusBadRequest {
		t.Errorf("an unknown mode: status %d, want 400", w.Code)
	}
	if w := do("PUT", "/mode?is=wrong"); w.Code != http.StatusOK {
		t.Errorf("mode wrong: status %d", w.Code)
	}
	if _, err := get(url + "/run"); err != nil {
		t.Fatal(err)
	}
	x.times.stalls = []stall{{time.Now(), time.Second}}
	body := do("GET", "/counts").Body.String()
	longest := regexp.MustCompile(`"longest":[1-9][0-9]*,`)
	if got, want := strings.TrimSpace(longest.ReplaceAllString(body, `"longest":N,`)),
		`{"run":{"received":1,"wrong":1,"stored":0,"traced":0,"sampled":0,"longest":N,"stood":1000000000}}`; got != want {
		t.Errorf("counts are %s, want %s", body, want)
	}
	if do("PUT", "/exit"); ended != 1 {
		t.Errorf("the target ended %d times, want once", ended)
	}
}

// A request is stored as often as it says, and what is stored is what the target tells.
func TestRequestsAreStoredAsOftenAsTheySay(t *testing.T) {
	x, url := start(t, t.TempDir())
	for _, query := range []string{"", "?stores=0", "?stores=1", "?stores=2", "?stores=2&delay=1ms"} {
		if status, err := get(url + "/a" + query); err != nil || status != http.StatusOK {
			t.Fatalf("GET /a%s: status %d, %v", query, status, err)
		}
	}
	mustCount(t, x, "a", count{Received: 5, Stored: 5})
	response, err := http.Get(url + "/a/stored")
	must.Succeed(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || string(body) != "{\"stored\": 5}\n" {
		t.Errorf("it tells %q (%v), want 5", body, err)
	}
}

// A delay may be a header, which each target of a comparison has its own of.
func TestDelayMayBeAHeader(t *testing.T) {
	_, url := start(t, t.TempDir())
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/a", nil)
	must.Succeed(t, err)
	request.Header.Set("Delay", "30ms")
	began := time.Now()
	response, err := http.DefaultClient.Do(request)
	must.Succeed(t, err)
	_ = response.Body.Close()
	if took := time.Since(began); took < 30*time.Millisecond {
		t.Errorf("the response came after %v, want 30ms or more", took)
	}
}

func TestEchoSendsBackBodyAndHeader(t *testing.T) {
	_, url := start(t, t.TempDir())
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/run/echo", strings.NewReader("body"))
	must.Succeed(t, err)
	request.Header.Set("X-Echo", "header")
	response, err := http.DefaultClient.Do(request)
	must.Succeed(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || string(body) != "body" || response.Header.Get("X-Echo") != "header" {
		t.Errorf("body %q, header %q, %v", body, response.Header.Get("X-Echo"), err)
	}
}

// Requests of each protocol are counted alike, and a target that drains ends the
// connections of each.
func TestEachProtocolIsCountedAndDrained(t *testing.T) {
	x, _ := start(t, t.TempDir())
	for name, speaks := range map[string]struct {
		url     string
		version int
		set     func(*http.Protocols)
	}{
		"http1": {"http://" + x.plain, 1, func(p *http.Protocols) { p.SetHTTP1(true) }},
		"tls":   {"https://" + x.secure, 1, func(p *http.Protocols) { p.SetHTTP1(true) }},
		"h2":    {"https://" + x.secure, 2, func(p *http.Protocols) { p.SetHTTP2(true) }},
		"h2c":   {"http://" + x.plain, 2, func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) }},
	} {
		transport := &http.Transport{Protocols: &http.Protocols{}, TLSClientConfig: trusting()}
		speaks.set(transport.Protocols)
		var opened atomic.Int32
		transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			opened.Add(1)
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}
		client := &http.Client{Transport: transport}
		ask := func() int64 {
			response, err := client.Get(speaks.url + "/" + name)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			_ = response.Body.Close()
			if response.StatusCode != http.StatusOK || response.ProtoMajor != speaks.version {
				t.Errorf("%s: status %d over %s", name, response.StatusCode, response.Proto)
			}
			return 1
		}
		sent := ask()
		must.Succeed(t, x.set(drain))
		for opened.Load() < 3 {
			sent += ask()
		}
		must.Succeed(t, x.set(ok))
		transport.CloseIdleConnections()
		mustCount(t, x, name, count{Received: sent})
	}
}

// A call is counted by the name in its metadata, and answered as the mode says.
func TestCallsAreCounted(t *testing.T) {
	x, _ := start(t, t.TempDir())
	for _, secured := range []struct {
		address string
		by      credentials.TransportCredentials
	}{{x.plain, insecure.NewCredentials()}, {x.secure, credentials.NewTLS(trusting())}} {
		conn, err := grpc.NewClient(secured.address, grpc.WithTransportCredentials(secured.by))
		must.Succeed(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		for mode, want := range map[mode]codes.Code{ok: codes.OK, wrongly: codes.Internal} {
			must.Succeed(t, x.set(mode))
			ctx := metadata.AppendToOutgoingContext(t.Context(), "name", "run")
			if _, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{}); status.Code(err) != want {
				t.Errorf("the call ends with %v, want %v", err, want)
			}
		}
	}
	mustCount(t, x, "run", count{Received: 4, Wrong: 2})
}

// trusting trusts the certificate that every target has.
func trusting() *tls.Config {
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return &tls.Config{RootCAs: roots, ServerName: "example.com", MinVersion: tls.VersionTLS12}
}
