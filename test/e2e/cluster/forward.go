package cluster

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"os/exec"
	"regexp"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// trustOperator trusts the CA of the operator's Secret alone.
func trustOperator(t *testing.T) *tls.Config {
	t.Helper()
	var secret corev1.Secret
	must.Succeed(t, API.Get(t.Context(), client.ObjectKey{Namespace: OperatorNamespace, Name: "loadtest-operator-coordinator"}, &secret))
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(secret.Data["ca.crt"])
	return &tls.Config{RootCAs: roots, ServerName: workerv1.ServerName, MinVersion: tls.VersionTLS13}
}

// scraperOf trusts the operator alone, and dials an address whatever the URL says.
func scraperOf(t *testing.T, address string) *http.Client {
	t.Helper()
	dialer := &tls.Dialer{Config: trustOperator(t)}
	transport := &http.Transport{DisableKeepAlives: true}
	transport.DialTLSContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, address)
	}
	return &http.Client{Transport: transport}
}

var forwarded = regexp.MustCompile(`^Forwarding from (127\.0\.0\.1:\d+) `)

// Forward leads an address of this machine to a port of the operator, until the test ends.
func Forward(t *testing.T, object, port string) string {
	t.Helper()
	return ForwardIn(t, OperatorNamespace, object, port)
}

// ForwardIn leads an address to a port of a pod or a Service of a namespace.
func ForwardIn(t *testing.T, namespace, object, port string) (address string) {
	t.Helper()
	Soon(t, func(context.Context) (err error) {
		address, err = tryToForward(t, namespace, object, port)
		return err
	})
	return address
}

func tryToForward(t *testing.T, namespace, object, port string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "kubectl", "-n", namespace, "port-forward", "--address", "127.0.0.1", object, ":"+port)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if found := forwarded.FindStringSubmatch(lines.Text()); found != nil {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return found[1], nil
		}
	}
	return "", errors.New("kubectl port-forward ended without an address")
}

// MetricsPage asks a pod of the operator, or its Service, for the metrics. It asks again if
// the connection breaks, which kubectl forwards.
func MetricsPage(t *testing.T, object, token string) (status int, page string) {
	t.Helper()
	Soon(t, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+workerv1.ServerName+"/metrics", nil)
		if err != nil {
			return err
		}
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		answer, err := scraperOf(t, Forward(t, object, "metrics")).Do(request)
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
