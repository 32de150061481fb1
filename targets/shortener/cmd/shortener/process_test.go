package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/kafkatest"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/postgrestest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// asProgram makes this test binary the program itself.
const asProgram = "SHORTENER_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main() // which exits
	}
	os.Exit(kafkatest.Main(withPostgres{m}))
}

// withPostgres runs the tests while a Postgres is shared.
type withPostgres struct{ tests *testing.M }

func (w withPostgres) Run() int { return postgrestest.Main(w.tests) }

func environment(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

// replica is one process of the program, or one that runs in this process.
type replica struct {
	url  string
	stop func() error
}

// start runs a command in this process until the test ends.
func start(t *testing.T, args ...string) replica {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	logs, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, invocation{args: append(args, "--port=0"), getenv: environment(nil), now: time.Now, out: out})
		out.Close()
	}()
	url, err := address(logs)
	if err != nil {
		cancel()
		logs.Close() // or it would wait for a reader
		t.Fatalf("%v (run: %v)", err, <-ended)
	}
	stopped := false
	r := replica{url: url, stop: func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return <-ended
	}}
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Errorf("run() = %v", err)
		}
	})
	return r
}

// program runs the program itself, which stop kills without warning.
func program(t *testing.T, args ...string) replica {
	t.Helper()
	cmd := exec.Command(os.Args[0], append(args, "--port=0")...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	logs, err := cmd.StderrPipe()
	must.Succeed(t, err)
	must.Succeed(t, cmd.Start())
	url, err := address(logs)
	if err != nil {
		_ = cmd.Process.Kill()
		t.Fatalf("%v (%v)", err, cmd.Wait())
	}
	killed := false
	r := replica{url: url, stop: func() error {
		if killed {
			return nil
		}
		killed = true
		err := cmd.Process.Signal(syscall.SIGKILL)
		_ = cmd.Wait() // reports the kill
		return err
	}}
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Errorf("kill: %v", err)
		}
	})
	return r
}

// address is the URL that the log names; the rest of the log is read and forgotten.
func address(logs io.Reader) (string, error) {
	var seen strings.Builder
	for lines := bufio.NewReader(logs); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return "", fmt.Errorf("no address in the log: %w\n%s", err, seen.String())
		}
		seen.WriteString(line)
		var started struct{ Msg, Addr string }
		if json.Unmarshal([]byte(line), &started) != nil || started.Msg != "serving" {
			continue
		}
		go func() { _, _ = io.Copy(io.Discard, lines) }()
		_, port, err := net.SplitHostPort(started.Addr)
		return "http://127.0.0.1:" + port, err
	}
}

// client follows no redirect, and gives up before a test does.
var client = &http.Client{
	Timeout:       30 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Transport:     &http.Transport{MaxIdleConnsPerHost: 64},
}

// answer is what a client gets.
type answer struct {
	status   int
	location string
	body     string
}

// send returns an error when no whole answer comes, as from a process that is
// killed.
func send(method, url, body string) (answer, error) {
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	response, err := client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header.Get("Location"), string(read)}, err
}

func get(t *testing.T, url string) answer {
	t.Helper()
	a, err := send(http.MethodGet, url, "")
	must.Succeed(t, err)
	return a
}

// shorten creates a link and returns its code.
func shorten(t *testing.T, r replica, target string) string {
	t.Helper()
	code, err := tryShorten(r, target)
	must.Succeed(t, err)
	return code
}

func tryShorten(r replica, target string) (string, error) {
	a, err := send(http.MethodPost, r.url+"/urls", fmt.Sprintf(`{"url":%q}`, target))
	if err != nil {
		return "", err
	}
	if a.status != http.StatusCreated {
		return "", fmt.Errorf("POST /urls = %d %s", a.status, a.body)
	}
	var created struct{ Code string }
	return created.Code, json.Unmarshal([]byte(a.body), &created)
}

// totals are what /stats says, which an error may keep from being known.
func totals(r replica) (links, clicks int, err error) {
	a, err := send(http.MethodGet, r.url+"/stats", "")
	if err != nil {
		return 0, 0, err
	}
	if a.status != http.StatusOK {
		return 0, 0, errors.New(a.body)
	}
	var stats struct{ Links, Clicks int }
	err = json.Unmarshal([]byte(a.body), &stats)
	return stats.Links, stats.Clicks, err
}

// await polls until ok, which takes as long as the machine is busy.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	turn := time.NewTicker(20 * time.Millisecond)
	defer turn.Stop()
	for !ok() {
		select {
		case <-ctx.Done():
			t.Fatalf("in two minutes it did not happen that %s", what)
		case <-turn.C:
		}
	}
}

func awaitReady(t *testing.T, r replica) {
	t.Helper()
	await(t, "the replica is ready", func() bool { return strings.Contains(get(t, r.url+"/ready").body, `"ready"`) })
}
