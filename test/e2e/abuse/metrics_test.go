//go:build e2e

package abuse

import (
	"crypto/tls"
	"net/http"
	"strings"
	"testing"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
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
		conn, err := tls.Dial("tcp", cluster.Forward(t, "service/loadtest-operator-metrics", "metrics"), &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12})
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
	return strings.TrimSpace(cluster.MustCommand(t, "kubectl", append([]string{"-n", tn.namespace, "create", "token", "editor"}, args...)...))
}

func scrape(t *testing.T, token string) attempt {
	t.Helper()
	status, page := cluster.MetricsPage(t, "service/loadtest-operator-metrics", token)
	if status == http.StatusOK || strings.Contains(page, "loadtest_coordinator_sessions") {
		return succeeded("answered %d: %.200s", status, page)
	}
	return refused(operator, page)
}
