package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/kafkatest"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/postgrestest"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/servetest"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestMain(m *testing.M) {
	if servetest.IsProgram() {
		main() // which exits
	}
	os.Exit(kafkatest.Main(withPostgres{m}))
}

// withPostgres runs the tests while a Postgres is shared.
type withPostgres struct{ tests *testing.M }

func (w withPostgres) Run() int { return postgrestest.Main(w.tests) }

type replica = servetest.Service

// start runs a command in this process until the test ends.
func start(t *testing.T, args ...string) replica {
	t.Helper()
	return servetest.Run(t, func(ctx context.Context, log io.Writer) error {
		return run(ctx, invocation{args: append(args, "--port=0"), getenv: servetest.Environment(nil), now: time.Now, out: log})
	})
}

// program runs the program itself, which Stop kills without warning.
func program(t *testing.T, args ...string) replica {
	t.Helper()
	return servetest.Start(t, append(args, "--port=0")...)
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
	a, err := send(http.MethodPost, r.URL+"/urls", fmt.Sprintf(`{"url":%q}`, target))
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
	a, err := send(http.MethodGet, r.URL+"/stats", "")
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

func awaitReady(t *testing.T, r replica) {
	t.Helper()
	await.True(t, "the replica is ready", func() bool { return strings.Contains(get(t, r.URL+"/ready").body, `"ready"`) })
}
