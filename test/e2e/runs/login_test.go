//go:build e2e

package runs

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// loggedIn has tokens of another target, which are good for 12 s of a step of 40 s.
const loggedIn = `
target: {service: {name: counter}, timeout: 10s, login: shop}
otherTargets: [{name: identity, service: {name: identity}}]
logins: [{name: shop, type: ClientCredentials, secretName: loadtest-shop, target: identity, path: "/run/token?life=12", scopes: [cart]}]
parallelism: 2
requests: [{name: cart, http: {path: /run/guarded}}]
steps: [{name: steady, rate: "20", duration: 40s}]
`

// createLogin makes the target that gives tokens, and the Secret of who asks for them.
func createLogin(t *testing.T, c *loadCase) {
	t.Helper()
	identity, err := cluster.StartCounterNamed(t.Context(), c.counter.Namespace, "", "identity")
	must.Succeed(t, err)
	c.identity = identity
	must.Succeed(t, cluster.API.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.counter.Namespace, Name: "loadtest-shop"},
		StringData: map[string]string{"client-id": "shop", "client-secret": "kanari-secret"},
	}))
}

// tokensAreRenewed: tokens end during the run, and the target, which refuses one that has ended,
// counts no request with such a one.
func tokensAreRenewed(t *testing.T, s *loadsSuite, c *loadCase) {
	lt, ns := c.lt, c.counter.Namespace
	got, issued := c.counted["run-guarded"], c.identity.MustRead(t)["run-token"]
	sent := lt.Status.Steps[0].Result.Sent
	t.Logf("%d requests, %d tokens", sent, issued.Received)
	s.same(t, "requests with a token", got.Received, sent)
	s.holds(t, sent > 0 && got.Wrong == 0, "the target got %d requests and refused %d of them", got.Received, got.Wrong)
	// 40 s take each of two workers 4 tokens of 12 s at least; renewed after 9 s, they are 5.
	s.holds(t, issued.Received >= 8 && issued.Wrong == 0, "%d requests for tokens came, and %d were refused; want at least 8 and none", issued.Received, issued.Wrong)
	// The word is in the client's secret, and in each token.
	for where, text := range map[string]string{
		"the LoadTest":        cluster.MustCommand(t, "kubectl", "get", "loadtest", lt.Name, "-n", ns, "-o", "yaml", "--show-managed-fields"),
		"Jobs and pods":       cluster.MustCommand(t, "kubectl", "get", "jobs,pods,configmaps", "-n", ns, "-l", "loadtest.dev/run="+string(lt.UID), "-o", "yaml"),
		"Events":              cluster.MustCommand(t, "kubectl", "get", "events", "-n", ns, "-o", "yaml"),
		"the operator's log":  cluster.MustCommand(t, "kubectl", "logs", "-n", cluster.OperatorNamespace, "-l", cluster.OperatorLabel, "--tail=-1"),
		"the log of a worker": cluster.MustCommand(t, "kubectl", "logs", "-n", ns, "-l", "loadtest.dev/run="+string(lt.UID), "--tail=-1"),
	} {
		if strings.TrimSpace(text) == "" {
			t.Errorf("%s: there is nothing to search", where)
		}
		if at := strings.Index(text, "kanari"); at >= 0 {
			t.Errorf("%s has a secret or a token: %s", where, text[max(0, at-100):min(len(text), at+20)])
		}
	}
}
