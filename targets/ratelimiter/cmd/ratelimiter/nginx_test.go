package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"text/template"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/daemon"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/redistest"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/rpctest"
	ratelimiterv1 "github.com/loadtest-dev/loadtest-operator/targets/ratelimiter/grpc/v1"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// startNginx runs Nginx by the chart's configuration before the gRPC of replicas, and
// returns the address of its socket.
func startNginx(t *testing.T, replicas ...string) string {
	t.Helper()
	const chart = "../../../../charts/targets/files/nginx.conf"
	conf, err := template.New(filepath.Base(chart)).Funcs(template.FuncMap{"add": func(a, b int) int { return a + b }}).ParseFiles(chart)
	must.Succeed(t, err)
	var text strings.Builder
	if err := conf.Execute(&text, map[string]any{
		// One worker process, since each takes the replicas in turn by itself.
		"nginx":        map[string]int{"workers": 1, "workerConnections": 64, "keepalive": 8},
		"forwardedFor": "$proxy_add_x_forwarded_for", "grpc": 9090, "replicas": "localhost",
	}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var servers string
	for _, address := range replicas {
		servers += "server " + address + ";"
	}
	given := strings.NewReplacer(
		"server localhost:9090;", servers, "/tmp/", dir+"/",
		"listen 8080 reuseport backlog=4096;", "listen unix:"+dir+"/http;",
		"listen 8081;", "listen unix:"+dir+"/status;",
		"listen 9090 http2 reuseport backlog=4096;", "listen unix:"+dir+"/grpc http2;",
	).Replace(text.String())
	file := filepath.Join(dir, "nginx.conf")
	must.Succeed(t, os.WriteFile(file, []byte(given), 0o600))
	process, err := daemon.Start(daemon.Program{
		Path: "nginx", Args: []string{"-e", "stderr", "-c", file, "-g", "daemon off; error_log stderr notice;"},
		Ready: "start worker process ", DeathSignal: syscall.SIGTERM,
	})
	must.Succeed(t, err)
	t.Cleanup(func() { process.End(syscall.SIGTERM) })
	return "unix:" + dir + "/grpc"
}

// Behind Nginx the calls of one connection reach all replicas, with the name of the
// client, and refusals come back with their trailers.
func TestNginxSpreadsTheCallsOfAConnection(t *testing.T) {
	args := []string{"--redis-addr=" + redistest.Start(t), "--strategy=lua-seconds", "--capacity=15", "--trusted-proxies=127.0.0.0/8", "--grpc-address=127.0.0.1:0"}
	a, b := start(t, args...), start(t, args...)
	client := ratelimiterv1.NewRateLimiterServiceClient(rpctest.Dial(t, startNginx(t, a.GRPC, b.GRPC)))
	ctx := metadata.AppendToOutgoingContext(t.Context(), "x-forwarded-for", "192.168.1.100")
	seen := map[codes.Code]int{}
	for range 20 {
		var trailer metadata.MD
		_, err := client.Take(ctx, &ratelimiterv1.TakeRequest{}, grpc.Trailer(&trailer))
		seen[status.Code(err)]++
		if status.Code(err) == codes.ResourceExhausted && len(trailer.Get("retry-after")) != 1 {
			t.Errorf("%v has the trailers %v, want one retry-after", err, trailer)
		}
	}
	same.As(t, "replies by status", map[codes.Code]int{codes.OK: 15, codes.ResourceExhausted: 5}, seen)
	for _, url := range []string{a.URL, b.URL} {
		_, page := get(t, url+"/metrics", "")
		if n := counter(t, page, "granted") + counter(t, page, "denied"); n != 10 {
			t.Errorf("%s counted %d calls, want half of the 20", url, n)
		}
	}
}
