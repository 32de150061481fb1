package replica

import (
	"bytes"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/certs"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// installed has an API server and what stands for a leader. No admission policy is there.
func installed(t *testing.T) installation {
	t.Helper()
	served(t)
	pair, err := certs.Generate(time.Now())
	must.Succeed(t, err)
	served, err := tls.X509KeyPair(pair.Cert, pair.Key)
	must.Succeed(t, err)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{served}, MinVersion: tls.VersionTLS13, NextProtos: []string{"h2"}})
	must.Succeed(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = conn.(*tls.Conn).Handshake()
			_ = conn.Close()
		}
	}()
	i := installation{namespace: apiserver.Namespace(t), coordinator: listener.Addr().String(), ca: filepath.Join(t.TempDir(), "ca.crt")}
	write(t, i.ca, pair.CA)
	must.Succeed(t, i.connect(apiserver.Config(t), apiserver.Client(t).Scheme()))
	return i
}

func write(t *testing.T, file string, content []byte) {
	t.Helper()
	must.Succeed(t, os.WriteFile(file, content, 0o600))
}

func TestCheckOfInstallation(t *testing.T) {
	for name, test := range map[string]struct {
		spoil   func(t *testing.T, i *installation)
		wantErr string
	}{
		"all is there": {func(*testing.T, *installation) {}, ""},
		"no leader": {func(t *testing.T, i *installation) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			must.Succeed(t, err)
			i.coordinator = listener.Addr().String()
			_ = listener.Close()
		}, "check failed: a replica leads, and workers reach it at 127.0.0.1:"},
		"another operator's CA": {func(t *testing.T, i *installation) {
			other, err := certs.Generate(time.Now())
			must.Succeed(t, err)
			write(t, i.ca, other.CA)
		}, "certificate signed by unknown authority"},
		"no certificate": {func(t *testing.T, i *installation) { write(t, i.ca, []byte("rubbish")) }, "has no certificate"},
		"no definitions": {func(t *testing.T, i *installation) {
			server := httptest.NewServer(http.NotFoundHandler())
			t.Cleanup(server.Close)
			var other installation
			must.Succeed(t, other.connect(&rest.Config{Host: server.URL}, apiserver.Client(t).Scheme()))
			i.api = other.api
		}, "older than this operator: they lack LoadTest and 1 more"},
		"no namespace": {func(_ *testing.T, i *installation) { i.namespace = "nowhere" }, `namespaces "nowhere" not found`},
		"no policy": {
			func(_ *testing.T, i *installation) { i.policy = true },
			"check failed: the API server refuses a LoadTest that aims at itself: the LoadTest was accepted",
		},
	} {
		t.Run(name, func(t *testing.T) {
			i := installed(t)
			test.spoil(t, &i)
			if test.wantErr == "" {
				var out bytes.Buffer
				if err := i.run(t.Context(), time.Minute, &out); err != nil || strings.Count(out.String(), "ok: ") != 3 {
					t.Errorf("%v, and it says %q, want three checks", err, out.String())
				}
				return
			}
			// Each check is tried once. On a busy machine one may run out of time before that
			// which is meant to fail.
			await.True(t, "it says "+test.wantErr, func() bool {
				err := i.run(t.Context(), 0, &bytes.Buffer{})
				if err == nil {
					t.Fatal("nothing is wrong")
				}
				return strings.Contains(err.Error(), test.wantErr)
			})
		})
	}
}

// TestCheckWaits: what an install has not brought yet is tried again.
func TestCheckWaits(t *testing.T) {
	i := installed(t)
	ca, err := os.ReadFile(i.ca)
	must.Succeed(t, err)
	write(t, i.ca, []byte("rubbish"))
	time.AfterFunc(retryEvery/2, func() { _ = os.WriteFile(i.ca, ca, 0o600) })
	if err := i.run(t.Context(), time.Minute, &bytes.Buffer{}); err != nil {
		t.Error(err)
	}
}
