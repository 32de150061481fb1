package main

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/hack/bench/peer"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestNginxCountsRequests(t *testing.T) {
	for _, p := range []protocol{overTLS, overHTTP2} {
		t.Run(string(p), func(t *testing.T) {
			b := &bench{work: t.TempDir(), peers: peer.Store{Log: io.Discard}}
			n, err := b.serveNginx(t.Context(), p)
			must.Succeed(t, err)
			certificate := must.ReadFile(t, n.certificate())
			trusted := x509.NewCertPool()
			if !trusted.AppendCertsFromPEM(certificate) {
				t.Fatal("the certificate cannot be read")
			}
			client := http.Client{Transport: &http.Transport{
				TLSClientConfig: &tls.Config{RootCAs: trusted}, ForceAttemptHTTP2: p == overHTTP2,
			}}
			var answered int64 // when the first was
			const requests = 50
			for i := range requests {
				resp, err := client.Get(n.url() + "/17")
				must.Succeed(t, err)
				body, err := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				if err != nil || len(body) != 64 || (resp.ProtoMajor == 2) != (p == overHTTP2) {
					t.Fatalf("answered %d bytes over %s, %v", len(body), resp.Proto, err)
				}
				if i == 0 {
					answered = groundtruth.Now()
				}
			}
			got, usage, err := n.stop()
			must.Succeed(t, err)
			if got.Requests != requests || got.Connections != 1 {
				t.Errorf("served %d requests over %d connections, want %d over 1", got.Requests, got.Connections, requests)
			}
			if got.First > answered || got.Last < answered || usage.CPU <= 0 {
				t.Errorf("served from %d to %d with %v of processor time, but the first request was answered at %d", got.First, got.Last, usage.CPU, answered)
			}
		})
	}
}

func TestStatusOfNginxIsReadOrRefused(t *testing.T) {
	text := "Active connections: 3 \nserver accepts handled requests\n 41 40 1234 \nReading: 0 Writing: 1 Waiting: 2 \n"
	got, err := readStubStatus([]byte(text))
	if diff := cmp.Diff(stubStatus{accepts: 41, requests: 1234}, got, cmp.AllowUnexported(stubStatus{})); diff != "" || err != nil {
		t.Errorf("status (-want +got):\n%s%v", diff, err)
	}
	if _, err := readStubStatus([]byte("<html>")); err == nil {
		t.Error("a page that is no status is read")
	}
}

func TestProgressTimesFirstAndLastRequest(t *testing.T) {
	var p progress
	p.start(stubStatus{accepts: 5, requests: 10, asked: 90, read: 100})
	for _, r := range []struct {
		now      int64
		requests int64 // of generators
	}{{200, 0}, {300, 7}, {400, 20}, {500, 20}} {
		p.add(stubStatus{accepts: 5 + 2, requests: 10 + r.requests + p.readings + 1, asked: r.now - 10, read: r.now})
	}
	want := groundtruth.Counters{Requests: 20, Connections: 2, First: 190, Last: 400}
	same.As(t, "counters", want, p.counters)
}
