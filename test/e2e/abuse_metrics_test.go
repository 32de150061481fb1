//go:build e2e

package e2e

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// metricsAbuses ask for the operator's metrics, which name the load of every tenant.
var metricsAbuses = []abuse{
	{"metrics without a token", operator, "a bearer token is required", func(t *testing.T, _ *people) attempt {
		return scrape(t, "")
	}},
	{"metrics with a tenant's token", operator, "the token may not get this path", func(t *testing.T, p *people) attempt {
		return scrape(t, p.attacker.editorToken(t))
	}},
	{"metrics with a worker's token", operator, "the token is not valid", func(t *testing.T, p *people) attempt {
		return scrape(t, p.attacker.editorToken(t, "--audience", workerv1.Audience))
	}},
	{"metrics over TLS 1.2", operator, "protocol version", func(t *testing.T, _ *people) attempt {
		conn, err := tls.Dial("tcp", forward(t, "service/loadtest-operator-metrics", "metrics"), &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12})
		if err != nil {
			return refused(operator, err.Error())
		}
		_ = conn.Close()
		return succeeded("connected with TLS %x", conn.ConnectionState().Version)
	}},
}

// editorToken is one of the editor's, as kubectl makes it for the administrator.
func (tn *tenant) editorToken(t *testing.T, args ...string) string {
	t.Helper()
	return strings.TrimSpace(mustCommand(t, "kubectl", append([]string{"-n", tn.namespace, "create", "token", "editor"}, args...)...))
}

func scrape(t *testing.T, token string) attempt {
	t.Helper()
	status, page := metricsPage(t, "service/loadtest-operator-metrics", token)
	if status == http.StatusOK || strings.Contains(page, "loadtest_coordinator_sessions") {
		return succeeded("answered %d: %.200s", status, page)
	}
	return refused(operator, page)
}

// metricsPage asks a pod of the operator, or its Service, for the metrics. It asks again if
// the connection breaks, which kubectl forwards.
func metricsPage(t *testing.T, object, token string) (status int, page string) {
	t.Helper()
	soon(t, waitTimeout, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+workerv1.ServerName+"/metrics", nil)
		if err != nil {
			return err
		}
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		answer, err := scraperOf(t, forward(t, object, "metrics")).Do(request)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		status, page = answer.StatusCode, string(text)
		return err
	})
	return status, page
}
