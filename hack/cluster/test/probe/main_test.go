package main

import (
	"bytes"
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
)

func TestRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	must.Succeed(t, os.WriteFile(file, []byte("secret"), 0o600))
	name, err := os.Hostname()
	must.Succeed(t, err)
	server := httptest.NewServer(handler())
	defer server.Close()
	for args, want := range map[string]string{
		"name":                      name + "\n",
		"get " + server.URL:         name + "\n",
		"print " + file:             "secret\n",
		"resolve 127.0.0.1":         "127.0.0.1\n",
		"write " + file + "-2 text": "",
	} {
		var out bytes.Buffer
		if err := run(t.Context(), strings.Fields(args), &out); err != nil || out.String() != want {
			t.Errorf("run(%q) prints %q, %v, want %q", args, out.String(), err, want)
		}
	}
	if got, err := os.ReadFile(file + "-2"); err != nil || string(got) != "text" {
		t.Errorf("written was %q, %v, want text", got, err)
	}
	for _, args := range []string{"", "serve", "get", "unknown argument", "print " + file + ".none", "get " + server.URL + "%"} {
		if err := run(t.Context(), strings.Fields(args), new(bytes.Buffer)); err == nil {
			t.Errorf("run(%q) succeeds", args)
		}
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Report(t, "serve ends with", run(ctx, []string{"serve", "127.0.0.1:0"}, new(bytes.Buffer)))
	if err := run(t.Context(), []string{"serve", "nonsense"}, new(bytes.Buffer)); err == nil {
		t.Error("serve accepts an address that is none")
	}
}
