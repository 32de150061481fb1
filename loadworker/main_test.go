package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/loadtest-dev/loadtest-operator/loadworker/session"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// complete is the environment that the operator sets.
func complete() map[string]string {
	return map[string]string{
		"LOADTEST_COORDINATOR":    "operator:9443",
		"LOADTEST_COORDINATOR_CA": "PEM",
		"LOADTEST_TOKEN_FILE":     "/var/run/secrets/loadtest.dev/token",
		"LOADTEST_RUN":            "a-uid",
		"JOB_COMPLETION_INDEX":    "3",
	}
}

func TestConfigure(t *testing.T) {
	ca := filepath.Join(t.TempDir(), "ca.pem")
	must.Succeed(t, os.WriteFile(ca, []byte("other PEM"), 0o600))
	environment := session.Config{
		Coordinator: "operator:9443", CA: []byte("PEM"), TokenFile: "/var/run/secrets/loadtest.dev/token", Run: "a-uid", Worker: 3,
	}
	tests := map[string]struct {
		args []string
		want session.Config
	}{
		"from the environment": {want: environment},
		"flags win": {
			args: []string{"--coordinator=c:1", "--coordinator-ca-file=" + ca, "--token-file=t", "--run=r", "--worker=0"},
			want: session.Config{Coordinator: "c:1", CA: []byte("other PEM"), TokenFile: "t", Run: "r"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			env := complete()
			got, _, err := configure(tt.args, func(k string) string { return env[k] }, &bytes.Buffer{})
			must.Succeed(t, err)
			same.As(t, "configure", tt.want, got, cmpopts.IgnoreFields(session.Config{}, "Assembly"))
			if got.Assembly.Version == "" || got.Assembly.Limits.Descriptors == 0 {
				t.Errorf("assembly %+v, want a version and the system's limits", got.Assembly)
			}
		})
	}
}

func TestConfigureRefuses(t *testing.T) {
	tests := map[string]struct {
		args   []string
		change func(map[string]string)
		want   string
	}{
		"no coordinator":         {change: func(e map[string]string) { delete(e, "LOADTEST_COORDINATOR") }, want: "set LOADTEST_COORDINATOR or --coordinator"},
		"no certificate":         {change: func(e map[string]string) { delete(e, "LOADTEST_COORDINATOR_CA") }, want: "set LOADTEST_COORDINATOR_CA or --coordinator-ca-file"},
		"no token":               {change: func(e map[string]string) { delete(e, "LOADTEST_TOKEN_FILE") }, want: "set LOADTEST_TOKEN_FILE or --token-file"},
		"no run":                 {change: func(e map[string]string) { delete(e, "LOADTEST_RUN") }, want: "set LOADTEST_RUN or --run"},
		"no number":              {change: func(e map[string]string) { delete(e, "JOB_COMPLETION_INDEX") }, want: "set JOB_COMPLETION_INDEX or --worker"},
		"a number that is none":  {args: []string{"--worker=one"}, want: `JOB_COMPLETION_INDEX or --worker: "one" is not a whole number from 0 on`},
		"one below 0":            {args: []string{"--worker=-1"}, want: `"-1" is not a whole number from 0 on`},
		"an argument":            {args: []string{"run"}, want: `unexpected argument "run"; see --help`},
		"a flag that is unknown": {args: []string{"--url=x"}, want: "flag provided but not defined"},
		"a file that is missing": {args: []string{"--coordinator-ca-file=/does/not/exist"}, want: "no such file"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			env := complete()
			if tt.change != nil {
				tt.change(env)
			}
			var stderr bytes.Buffer
			if code := run(tt.args, func(k string) string { return env[k] }, &stderr); code != 2 {
				t.Errorf("exit code %d, want 2", code)
			}
			if !strings.Contains(stderr.String(), tt.want) {
				t.Errorf("it says %q, want …%s…", stderr.String(), tt.want)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	var stderr bytes.Buffer
	if code := run([]string{"--help"}, func(string) string { return "" }, &stderr); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	for name := range complete() {
		if !strings.Contains(stderr.String(), name) {
			t.Errorf("--help does not explain %s", name)
		}
	}
}

func TestRunSaysWhatIsWrongWithTheCertificate(t *testing.T) {
	env := complete()
	var stderr bytes.Buffer
	if code := run(nil, func(k string) string { return env[k] }, &stderr); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	if !strings.Contains(stderr.String(), "coordinator CA: no certificate in PEM") {
		t.Errorf("it logs %q, want what is wrong with the CA", stderr.String())
	}
}
