package main

import (
	"bufio"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestRun(t *testing.T) {
	for name, args := range map[string][]string{
		"plain": {"-record", "5", "-times", "9", "-d", "1ms", "-route", "a=status:503:1", "-route", "s=stream:3:1ms:1ms:stall=1,1ms", "-event", "stall:1h:1s"},
		"tls":   {"-protocol", "tls", "-d", "1ms"},
		"given": {"-control", "127.0.0.2:0", "-protocol", "h2", "-certificate", identity(t)},
		"h2c":   {"-protocol", "h2c", "-event", "goaway:0s:1s", "-route", "a=frame:hpack"},
	} {
		t.Run(name, func(t *testing.T) {
			stdin, end := io.Pipe()
			out, stdout := io.Pipe()
			ended := make(chan error, 1)
			go func() { ended <- run(args, stdin, stdout) }()
			line, err := bufio.NewReader(out).ReadString('\n')
			must.Succeed(t, err)
			var got Started
			must.Succeed(t, json.Unmarshal([]byte(line), &got))
			if (got.Certificate != "") != strings.HasPrefix(got.URL, "https://") {
				t.Errorf("it started at %s with the certificate %q", got.URL, got.Certificate)
			}
			resp, err := http.Get(got.Control + "/counters")
			must.Succeed(t, err)
			defer resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				t.Errorf("the counters are answered %s", resp.Status)
			}
			_ = end.Close()
			if err := <-ended; err != nil {
				t.Errorf("run = %v", err)
			}
		})
	}
}

// identity writes a certificate and its key to a file.
func identity(t *testing.T) string {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	own := s.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(own.PrivateKey)
	must.Succeed(t, err)
	text := slices.Concat(
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: own.Certificate[0]}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
	file := filepath.Join(t.TempDir(), "identity.pem")
	must.Succeed(t, os.WriteFile(file, text, 0o600))
	return file
}

func TestRunRefuses(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"no such flag": {[]string{"-x"}, "not defined"},
		"a bad route":  {[]string{"-route", "x"}, "must be name=reply"},
		"a bad stream": {[]string{"-route", "x=stream:3:1s:1s:y"}, "is no option of a stream"},
		"a bad event":  {[]string{"-event", "x"}, "must be stall, reset, refuse"},
		"no file":      {[]string{"-protocol", "tls", "-certificate", "/nowhere"}, "no such file"},
		"no address":   {[]string{"-address", "x"}, "must be an IPv4 address and a port"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := run(tt.args, strings.NewReader(""), io.Discard)
			must.Say(t, err, tt.want)
		})
	}
}
