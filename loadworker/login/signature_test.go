package login_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/login"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func signature(t testing.TB) *login.Signature {
	t.Helper()
	s, err := login.NewSignature("AKIDEXAMPLE", canary, "", "eu-central-1", "execute-api")
	must.Succeed(t, err)
	return s
}

// The host that is signed is the one that is sent, without the port that the scheme has by default.
func TestSignedHostIsSent(t *testing.T) {
	for address, want := range map[string]string{
		"http://shop": "shop", "http://shop:80": "shop", "http://shop:443": "shop:443", "https://shop:443": "shop",
		"http://[fd00::80]": "[fd00::80]", "http://[fd00::1]:80": "[fd00::1]", "https://[fd00::1]:8443": "[fd00::1]:8443",
	} {
		server, err := login.NewServer(address)
		must.Succeed(t, err)
		q := transport.Request{Method: "GET", Path: []byte("/")}
		signature(t).Sign(server, &q)
		same.As(t, address, want, string(q.Host))
	}
}

// The signature is of the moment of the request, and replaces headers that would be in its place.
func TestSignaturesAreOfTheirMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, err := login.NewServer("https://shop")
		must.Succeed(t, err)
		s := signature(t)
		for _, want := range []string{"20000101T000000Z", "20000102T000000Z"} {
			q := transport.Request{Method: "PUT", Path: []byte("/?b=1&a=x+y"), Body: []byte("x"), Host: []byte("other"), Headers: []transport.Header{{Name: "X-Amz-Date", Value: []byte("old")}}}
			s.Sign(server, &q)
			text := ""
			for _, h := range q.Headers {
				text += fmt.Sprintf("%s: %s\n", h.Name, h.Value)
			}
			if !strings.Contains(text, "X-Amz-Date: "+want+"\n") || strings.Contains(text, "old") || strings.Contains(text, canary) ||
				!strings.Contains(text, "Credential=AKIDEXAMPLE/"+want[:8]+"/eu-central-1/execute-api/aws4_request, SignedHeaders=content-length;host;x-amz-content-sha256;x-amz-date, ") {
				t.Errorf("at %s: %s", want, text)
			}
			same.As(t, "path and host", "/?a=x%20y&b=1 other", string(q.Path)+" "+string(q.Host))
			<-time.After(24 * time.Hour)
		}
	})
}

func TestKeysThatCannotSignAreRefused(t *testing.T) {
	for _, keys := range [][3]string{{"", canary, ""}, {"AKIDEXAMPLE", "", canary}, {canary + "\x01", "x", ""}, {"AKIDEXAMPLE", "x", canary + " é"}} {
		if _, err := login.NewSignature(keys[0], keys[1], keys[2], "a", "b"); err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("keys %q: %v", keys, err)
		}
	}
}

// BenchmarkSignature is what a signature costs the loop that sends, with a body of so many bytes.
func BenchmarkSignature(b *testing.B) {
	server, err := login.NewServer("https://shop")
	must.Succeed(b, err)
	s := signature(b)
	for _, size := range []int{0, 1 << 10, 64 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			body, path := make([]byte, size), []byte("/cart/17?size=4&colour=red")
			b.ReportAllocs()
			for b.Loop() {
				q := transport.Request{Method: "POST", Path: path, Body: body, Headers: []transport.Header{{Name: "Content-Type", Value: []byte("application/json")}}}
				s.Sign(server, &q)
			}
		})
	}
}
