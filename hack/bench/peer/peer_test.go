package peer

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestPeersAreInvokedForClosedLoads(t *testing.T) {
	load := Load{URL: "https://127.0.0.1:1", Connections: 64, Streams: 1, Seconds: 4}
	wrk := Invocation{Args: []string{"-t1", "-c64", "-d4s", load.URL}}
	h2load := Invocation{Args: []string{"-t1", "-c64", "-m1", "-D4", load.URL}}
	vegeta := Invocation{
		Args:  []string{"attack", "-rate=0", "-workers=64", "-max-workers=64", "-duration=4s", "-output=/dev/null"},
		Stdin: "GET https://127.0.0.1:1\n",
	}
	k6 := Invocation{
		Args: []string{"run", "--quiet", "--no-usage-report", "--summary-mode", "disabled", "--address", ""},
		Script: "import http from 'k6/http';\n" +
			"export const options = { vus: 64, duration: '4s', discardResponseBodies: true };\n" +
			"export default function () { http.get('https://127.0.0.1:1'); }\n",
	}
	want := map[Protocol]map[string]Invocation{
		TCP: {
			"wrk": wrk, "vegeta": vegeta, "k6": k6,
			"bombardier": {Args: []string{"--print", "r", "-c", "64", "-d", "4s", load.URL}},
			"hey":        {Args: []string{"-c", "64", "-z", "4s", load.URL}},
		},
		TLS:   {"wrk": wrk, "vegeta": vegeta, "k6": k6, "h2load": h2load},
		HTTP2: {"vegeta": vegeta, "k6": k6, "h2load": h2load},
	}
	for over, want := range want {
		t.Run(string(over), func(t *testing.T) {
			same.As(t, "invocations", want, invocations(t, over, load))
		})
	}
}

func TestPeersWithoutStreamsAreLeftOut(t *testing.T) {
	load := Load{URL: "https://x", Connections: 4, Streams: 16, Seconds: 4}
	h2load := Invocation{Args: []string{"-t1", "-c4", "-m16", "-D4", load.URL}}
	for over, want := range map[Protocol]map[string]Invocation{TCP: {}, TLS: {}, HTTP2: {"h2load": h2load}} {
		same.As(t, "invocations over "+string(over), want, invocations(t, over, load))
	}
}

// invocations are those of the peers that can send a load.
func invocations(t *testing.T, over Protocol, l Load) map[string]Invocation {
	t.Helper()
	got := map[string]Invocation{}
	for _, p := range All {
		i, err := p.Closed(over, l)
		if can := p.Over(over) && (l.Streams == 1 || p.Streams(over)); can != (err == nil) {
			t.Errorf("%s over %s is invoked with %q, %v; that it can is %t", p.Name, over, i.Args, err, can)
		}
		if err == nil {
			got[p.Name] = i
		}
	}
	return got
}

func TestCallsAreMadeByThosePeersThatCan(t *testing.T) {
	call := &Call{Service: "a.B", Method: "C", Message: `{"d":1}`, Descriptors: "/set", Frame: "/frame"}
	ghz := []string{
		"--insecure", "--protoset", "/set", "--call", "a.B.C", "--data", `{"d":1}`,
	}
	fast := append([]string{"--disable-template-data", "--disable-template-functions"}, ghz...)
	h2load := []string{"-d", "/frame", "-H", "content-type: application/grpc", "-H", "te: trailers", "http://127.0.0.1:1/a.B/C"}
	with := func(args []string, more ...string) []string { return append(args[:len(args):len(args)], more...) }
	tests := map[string]struct {
		load Load
		want map[string]Invocation
	}{
		"for a time": {
			Load{URL: "http://127.0.0.1:1", Connections: 64, Streams: 1, Seconds: 4, Call: call},
			map[string]Invocation{
				"h2load":            {Args: append([]string{"-t1", "-c64", "-m1", "-D4"}, h2load...)},
				"ghz":               {Args: with(ghz, "--connections", "64", "--concurrency", "64", "--duration", "4s", "--duration-stop", "wait", "127.0.0.1:1")},
				"ghz, no templates": {Args: with(fast, "--connections", "64", "--concurrency", "64", "--duration", "4s", "--duration-stop", "wait", "127.0.0.1:1")},
				"k6": {
					Args: []string{"run", "--quiet", "--no-usage-report", "--summary-mode", "disabled", "--address", ""},
					Script: "import grpc from 'k6/net/grpc';\n" +
						"const client = new grpc.Client();\n" +
						"client.loadProtoset('/set');\n" +
						"export const options = { vus: 64, duration: '4s' };\n" +
						"const message = {\"d\":1};\n" +
						"export default function () {\n" +
						"  if (__ITER == 0) { client.connect('127.0.0.1:1', { plaintext: true }); }\n" +
						"  client.invoke('a.B/C', message, { discardResponseMessage: true });\n" +
						"}\n",
				},
			},
		},
		"a number of them, at once": {
			Load{URL: "http://127.0.0.1:1", Connections: 10, Streams: 100, Seconds: 4, Requests: 1000, Call: call},
			map[string]Invocation{
				"h2load":            {Args: append([]string{"-t1", "-c10", "-m100", "-n1000"}, h2load...)},
				"ghz":               {Args: with(ghz, "--connections", "10", "--concurrency", "1000", "--total", "1000", "127.0.0.1:1")},
				"ghz, no templates": {Args: with(fast, "--connections", "10", "--concurrency", "1000", "--total", "1000", "127.0.0.1:1")},
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			same.As(t, "invocations", tt.want, invocations(t, GRPC, tt.load))
		})
	}
}

// The modules fix the versions that the table names.
func TestModulesPinVersions(t *testing.T) {
	for _, p := range All {
		if p.debian != "" {
			continue
		}
		mod := must.ReadFile(t, filepath.Join("..", "peers", p.source(), "go.mod"))
		if !strings.Contains(string(mod), " "+p.Version+" // indirect") {
			t.Errorf("the module of %s does not require %s", p.Name, p.Version)
		}
	}
}

func TestPeersAreFoundWhereTheyWereBuilt(t *testing.T) {
	cache := t.TempDir()
	p := Peer{Name: "x", Version: "v1"}
	built := filepath.Join(cache, "x-v1")
	s := Store{Modules: t.TempDir(), Cache: cache, Log: io.Discard}
	_, err := s.Find(context.Background(), p)
	must.Say(t, err, "build x v1")
	must.Succeed(t, os.WriteFile(built, nil, 0o755))
	if got, err := s.Find(context.Background(), p); err != nil || got != built {
		t.Errorf("Find = %s, %v; want what was built before", got, err)
	}
	if got, err := s.Find(context.Background(), Peer{Name: "sh", debian: "dash"}); err != nil || filepath.Base(got) != "sh" {
		t.Errorf("Find = %s, %v; want what is installed", got, err)
	}
}
