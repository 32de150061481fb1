package command_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// What init writes, validate and a real API server accept.
func TestInitWritesWhatTheAPITakes(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	kubectl := apiserver.Kubectl(t)
	const examples = "../draft/testdata/"
	for name, args := range map[string][]string{
		"curl":         {"curl", "https://shop.example.com/api?x=$y", "-H", "Authorization: Bearer abc", "--name", "cart", "-d", `{"a": 1}`, "--service", "shop:http"},
		"copied curl":  {"--from-curl", examples + "chrome.sh"},
		"openapi":      {"--from-openapi", examples + "openapi.yaml", "--service=shop"},
		"har":          {"--from-har", examples + "session.har"},
		"vegeta, JSON": {"--from-vegeta", examples + "targets.jsonl", "--name", "replay"},
		"log":          {"--from-log", examples + "access.log", "--service", "shop:80", "--window", "2026-11-28T10:01:00Z/", "--speed", "2", "--scale", "1/3"},
		"series alone": {"--from-series", examples + "series.csv", "--service", "shop:80"},
		"HAR, series":  {"--from-har", examples + "session.har", "--from-series", examples + "series.csv", "--scale=2"},
		"log, series":  {"--from-log", examples + "access.log", "--from-series", examples + "series.csv", "--service", "shop:80"},
		"curl, series": {"curl", "http://shop/", "--from-series", examples + "series.csv", "--speed=1.5"},
	} {
		t.Run(name, func(t *testing.T) {
			written := alone(t.Context(), t, append([]string{"init"}, args...)...)
			if written.code != 0 {
				t.Fatalf("exit code %d: %s", written.code, written.err)
			}
			withInput(t, written.out, "validate", "-f", "-", "--config", allHosts(t)).exits(t, 0)
			if out, err := kubectl(written.out, "create", "--dry-run=server", "-n", p.namespace, "-f", "-"); err != nil {
				t.Errorf("the API server: %s", out)
			}
		})
	}
}

// What was read of a log is told beside the manifest, and holds no credential.
func TestInitTellsWhatItReadOfALog(t *testing.T) {
	log := must.ReadFile(t, "../draft/testdata/access.log")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write(log)
	must.Succeed(t, errors.Join(err, z.Close()))
	got := withInput(t, packed.String(), "init", "--from-log", "-", "--service", "shop:80", "--log-methods", "get,post")
	contains(t, "the account", got.err, "Read 1402 lines: 1400 requests, and 2 not parsed.", "line 6: the line has no known format", "HEAD 21", "at most 4/s within 1s", "GET /api/items/{number}")
	contains(t, "the manifest", got.out, "name: POST /api/orders")
	if strings.Contains(got.err+got.out, "s3cr3t") || got.code != 0 {
		t.Errorf("exit code %d:\n%s\n%s", got.code, got.err, got.out)
	}
}

// A schedule is one that the API server takes, and its template is the LoadTest.
func TestInitWritesASchedule(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	args := []string{"init", "curl", "http://shop.example.com/cart", "-H", "Authorization: Bearer abc", "--name", "cart", "--service", "shop:80"}
	written := alone(t.Context(), t, append(args, "--schedule", "30 2 * * 1-5")...)
	if written.code != 0 {
		t.Fatalf("exit code %d: %s", written.code, written.err)
	}
	if out, err := apiserver.Kubectl(t)(written.out, "create", "-n", p.namespace, "-f", "-"); err != nil {
		t.Fatalf("the API server: %s\n%s", out, written.out)
	}
	s := &v1beta1.LoadTestSchedule{}
	must.Succeed(t, p.client.Get(t.Context(), client.ObjectKey{Namespace: p.namespace, Name: "cart"}, s))
	spec := s.Spec.Template.Spec
	if s.Spec.Schedule != "30 2 * * 1-5" || spec.Target.Service == nil || spec.Requests[0].HTTP.Path != "/cart" || len(spec.Thresholds) != 2 || !spec.Thresholds[1].IsRelative() {
		t.Errorf("the schedule is %+v", s.Spec)
	}
	contains(t, "the comment", written.out, "kubectl loadtest run --from schedule/cart", "kubectl create secret generic loadtest-cart-headers")
}

func TestInitRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		input string
		args  []string
		want  string
	}{
		"nothing":           {"", nil, "give one of --from-curl, --from-openapi, --from-har, --from-vegeta, --from-log, --from-grpc and --from-series, or init curl URL; 0 given"},
		"two sources":       {"", []string{"--from-curl", "-", "--from-har", "-"}, "2 given"},
		"a missing file":    {"", []string{"--from-har", "/does/not/exist"}, "--from-har /does/not/exist: no such file"},
		"no curl":           {"wget http://a/", []string{"--from-curl", "-"}, "--from-curl -: the text does not begin with curl"},
		"a flag of curl":    {"", []string{"curl", "http://a/", "--proxy-ntlm"}, "unknown flag: --proxy-ntlm: leave that flag out"},
		"a flag of ours":    {"", []string{"curl", "http://a/", "--name"}, "--name needs a value"},
		"a method":          {"", []string{"curl", "-X", "BREW", "http://a/"}, "method BREW is not one of GET, HEAD"},
		"an unclosed quote": {"curl 'http://a/", []string{"--from-curl", "-"}, "the curl command cannot be read"},
		"a missing log":     {"", []string{"--from-log", "/does/not/exist"}, "--from-log /does/not/exist: no such file"},
		"no log":            {"hello\n", []string{"--from-log", "-"}, "--from-log -: none of 1 line is a request: line 1: the line has no known format"},
		"a log and a HAR":   {"", []string{"--from-log", "-", "--from-har", "x"}, "2 given"},
		"stdin twice":       {"", []string{"--from-log", "-", "--from-series", "-"}, "--from-log and --from-series cannot both be the standard input"},
		"fields, no log":    {"", []string{"--from-har", "-", "--log-fields", "time=t"}, "--log-fields, --log-host and --log-methods need --from-log"},
		"methods, no log":   {"", []string{"--from-har", "-", "--log-methods", "POST"}, "--log-methods need --from-log"},
		"fields":            {"", []string{"--from-log", "-", "--log-fields", "time=t"}, "--log-fields: time, and method and path (or request"},
		"a method of a log": {"", []string{"--from-log", "-", "--log-methods", "GET,BREW"}, `--log-methods: "BREW" is not a method`},
		"a window, no log":  {"", []string{"--from-har", "-", "--window", "x"}, "--window, --speed and --scale need --from-log or --from-series"},
		"speed of curl":     {"", []string{"curl", "http://a/", "--speed", "2"}, "--window, --speed and --scale need"},
		"a window":          {"", []string{"--from-log", "-", "--window", "10:00/11:00"}, `--window "10:00/11:00" is not FROM/TO`},
		"a window, swapped": {"", []string{"--from-log", "-", "--window", "2026-11-28T11:00:00Z/2026-11-28T10:00:00Z"}, "the earlier first"},
		"no window":         {"", []string{"--from-log", "-", "--window", "/"}, "is not FROM/TO"},
		"speed 0":           {"", []string{"--from-log", "-", "--speed", "0"}, `--speed "0" is not a number between 1/1000000 and 1000000`},
		"speed NaN":         {"", []string{"--from-log", "-", "--speed", "NaN"}, `--speed "NaN" is not a number`},
		"scale by 0":        {"", []string{"--from-log", "-", "--scale", "1/0"}, `--scale "1/0" is not a number`},
		"a huge scale":      {"", []string{"--from-log", "-", "--scale", "1e999999999"}, `--scale "1e999999999" is not a number`},
		"a series alone":    {"0,1\n60,1\n", []string{"--from-series", "-"}, "names no host: say which Service is the target with --service"},
		"no series":         {"1\n", []string{"--from-series", "-", "--service", "a"}, "--from-series -: line 1 has 1 column: there must be two columns"},
		"no HAR":            {"{}", []string{"--from-har", "-"}, "has no log.entries"},
	} {
		t.Run(name, func(t *testing.T) { withInput(t, tt.input, append([]string{"init"}, tt.args...)...).fails(t, tt.want) })
	}
}
