package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// TestMain runs this program as the operator where a test started it as such.
func TestMain(m *testing.M) {
	if os.Getenv(asOperator) != "" {
		main()
		return
	}
	apiserver.Start(m)
}

// given are the options of a command line.
func given(t *testing.T, args ...string) options {
	t.Helper()
	var o options
	flags := flag.NewFlagSet("operator", flag.ContinueOnError)
	o.bind(flags)
	must.Succeed(t, flags.Parse(args))
	return o
}

// enough are the flags without which there is no operator.
func enough(more ...string) []string {
	return append([]string{"--coordinator-advertise=coordinator.loadtest-system.svc:9443", "--worker-image=worker:v1", "--namespace=loadtest-system"}, more...)
}

// file is a file that holds a text.
func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "config.yaml")
	must.Succeed(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

func TestOptions(t *testing.T) {
	t.Setenv("POD_NAMESPACE", "")
	invalid := file(t, "target: {}")
	for name, tc := range map[string]struct {
		args []string
		want string // what the error says; empty: there is none
	}{
		"enough":                       {enough(), ""},
		"no address to dial":           {enough("--coordinator-advertise="), "--coordinator-advertise is required: give the host:port that workers dial"},
		"no image":                     {enough("--worker-image="), "--worker-image is required: give the image of workers"},
		"no namespace":                 {enough("--namespace="), "--namespace is required: give the operator's own namespace, or set POD_NAMESPACE"},
		"an address without a port":    {enough("--coordinator-advertise=coordinator"), `--coordinator-advertise "coordinator": must be host:port`},
		"an address of no port":        {enough("--coordinator-advertise=coordinator:"), `--coordinator-advertise "coordinator:": must be host:port`},
		"an address on each machine":   {enough("--coordinator-advertise=:9443"), `--coordinator-advertise ":9443": must be host:port`},
		"an IPv6 address":              {enough("--coordinator-advertise=[2001:db8::1]:9443"), ""},
		"usage":                        {enough("--read-usage"), ""},
		"usage without pods":           {enough("--read-usage", "--read-targets=false"), "--read-usage needs --read-targets: without the pods their limits are not known"},
		"a service without an address": {enough("--coordinator-service=leader", "--pod-ip="), "--coordinator-service needs --pod-ip or POD_IP: "},
		"a service and an address":     {enough("--coordinator-service=leader", "--pod-ip=10.1.0.1"), ""},
		"a service and no port":        {enough("--coordinator-service=leader", "--pod-ip=10.1.0.1", "--coordinator-bind-address=x"), "--coordinator-bind-address: "},
		"a file and a ConfigMap":       {enough("--config=x", "--config-map=y"), "--config and --config-map exclude each other"},
		"a collector":                  {enough("--otlp-endpoint=http://collector:4318"), ""},
		"a collector of no scheme":     {enough("--otlp-endpoint=collector:4318"), "--otlp-endpoint, --otlp-interval: the endpoint must be a URL such as https://collector.monitoring:4318"},
		"a collector asked too often":  {enough("--otlp-endpoint=http://collector:4318", "--otlp-interval=1s"), "--otlp-endpoint, --otlp-interval: the interval must be at least 10s, not 1s"},
		"no file":                      {enough("--config=/does/not/exist"), "--config: open /does/not/exist"},
		"a file":                       {enough("--config=" + file(t, "targets: {rules: [{hosts: [staging.example.com]}]}")), ""},
		"a file that is invalid":       {enough("--config=" + invalid), "--config " + invalid + `: unknown field "target"`},
	} {
		t.Run(name, func(t *testing.T) {
			o := given(t, tc.args...)
			err := o.validate()
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tc.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tc.want)):
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

func TestNamespaceIsThatOfThePod(t *testing.T) {
	t.Setenv("POD_NAMESPACE", "of-the-pod")
	if o := given(t); o.namespace != "of-the-pod" {
		t.Errorf("namespace %q, want that of the pod", o.namespace)
	}
	if o := given(t, "--namespace=said"); o.namespace != "said" {
		t.Errorf("namespace %q, want the one that is given", o.namespace)
	}
}

func TestList(t *testing.T) {
	for flag, want := range map[string][]string{
		"": nil, " , ,": nil, "a": {"a"}, " a ,b,, c": {"a", "b", "c"},
	} {
		if diff := cmp.Diff(want, list(flag)); diff != "" {
			t.Errorf("list(%q) (-want +got):\n%s", flag, diff)
		}
	}
}

// What is wrong with the flags is said before a cluster is looked for.
func TestRunChecksItsOptions(t *testing.T) {
	if err := run(t.Context(), options{}); err == nil || !strings.HasPrefix(err.Error(), "--coordinator-advertise is required") {
		t.Errorf("got %v, want that a flag is missing", err)
	}
}
