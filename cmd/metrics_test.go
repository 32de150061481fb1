package main

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/certs"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/await"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// scraper asks replicas for metrics, as a Prometheus that verifies their certificate.
type scraper struct {
	t      *testing.T
	client *http.Client
	tls    *tls.Config
}

// scraper trusts what the Secret says.
func (o *operators) scraper() *scraper {
	o.t.Helper()
	var secret corev1.Secret
	must.Succeed(o.t, o.client.Get(o.t.Context(), client.ObjectKey{Namespace: o.namespace, Name: "loadtest-operator-coordinator"}, &secret))
	config := &tls.Config{RootCAs: x509.NewCertPool(), ServerName: workerv1.ServerName}
	config.RootCAs.AppendCertsFromPEM(secret.Data["ca.crt"])
	transport := &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}
	return &scraper{o.t, &http.Client{Transport: transport, Timeout: await.Patience}, config}
}

// get returns the answer's code and page.
func (s *scraper) get(method, url, authorization string) (int, string) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, url, nil)
	must.Succeed(s.t, err)
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	answer, err := s.client.Do(request)
	must.Succeed(s.t, err)
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	must.Succeed(s.t, err)
	return answer.StatusCode, string(page)
}

// token is of a new service account, for those audiences.
func (o *operators) token(account string, audiences ...string) string {
	o.t.Helper()
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: account}}
	must.Succeed(o.t, client.IgnoreAlreadyExists(o.client.Create(o.t.Context(), sa)))
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: audiences}}
	must.Succeed(o.t, o.client.SubResource("token").Create(o.t.Context(), sa, request))
	return request.Status.Token
}

// mayRead binds an account to a role that may get a path.
func (o *operators) mayRead(account, path string) {
	o.t.Helper()
	meta := metav1.ObjectMeta{Name: o.namespace + "-" + account}
	for _, object := range []client.Object{
		&rbacv1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{NonResourceURLs: []string{path}, Verbs: []string{"get"}}}},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: *meta.DeepCopy(), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: meta.Name},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: o.namespace, Name: account}},
		},
	} {
		must.Succeed(o.t, o.client.Create(o.t.Context(), object))
	}
	apiserver.AwaitAccess(o.t, o.client, authorizationv1.SubjectAccessReviewSpec{
		User:                  "system:serviceaccount:" + o.namespace + ":" + account,
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: path, Verb: "get"},
	})
}

func TestMetricsAreForAuthorizedScrapers(t *testing.T) {
	o := newOperators(t)
	leader, standby := o.pair()
	s := o.scraper()
	o.mayRead("prometheus", "/metrics")
	o.mayRead("neighbour", "/healthz")
	reader := "Bearer " + o.token("prometheus")
	for name, tc := range map[string]struct {
		method, path, authorization string
		want                        int
	}{
		"no token":                 {"GET", "/metrics", "", http.StatusUnauthorized},
		"an empty token":           {"GET", "/metrics", "Bearer ", http.StatusUnauthorized},
		"a password":               {"GET", "/metrics", "Basic YTpi", http.StatusUnauthorized},
		"junk":                     {"GET", "/metrics", "Bearer junk", http.StatusUnauthorized},
		"a worker's audience":      {"GET", "/metrics", "Bearer " + o.token("prometheus", workerv1.Audience), http.StatusUnauthorized},
		"another right":            {"GET", "/metrics", "Bearer " + o.token("neighbour"), http.StatusForbidden},
		"the right":                {"GET", "/metrics", reader, http.StatusOK},
		"the right, in lower case": {"GET", "/metrics", "b" + reader[1:], http.StatusOK},
		"another method":           {"POST", "/metrics", reader, http.StatusMethodNotAllowed},
		"another path":             {"GET", "/debug/pprof/", reader, http.StatusNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			for _, p := range []*operator{leader, standby} {
				got, page := s.get(tc.method, "https://"+p.metrics+tc.path, tc.authorization)
				if got != tc.want || strings.Contains(page, "loadtest_coordinator_sessions") != (tc.want == http.StatusOK) {
					t.Errorf("%s: answered %d, want %d:\n%.200s", p.ip, got, tc.want, page)
				}
			}
		})
	}
}

// A standby serves the certificate that the leader renewed, so that its metrics can be
// read with the CA that the Secret then has.
func TestStandbyServesTheRenewedCertificate(t *testing.T) {
	seldom(t)
	o := newOperators(t)
	_, standby := o.pair()
	renewed, _, err := certs.Set{}.Renew(time.Now())
	must.Succeed(t, err)
	var secret corev1.Secret
	must.Succeed(t, o.client.Get(t.Context(), client.ObjectKey{Namespace: o.namespace, Name: "loadtest-operator-coordinator"}, &secret))
	for key, value := range map[string][]byte{
		"ca.crt": renewed.Current.CA, "tls.crt": renewed.Current.Cert, "tls.key": renewed.Current.Key,
		"next-ca.crt": renewed.Next.CA, "next-tls.crt": renewed.Next.Cert, "next-tls.key": renewed.Next.Key,
	} {
		secret.Data[key] = value
	}
	must.Succeed(t, o.client.Update(t.Context(), &secret))
	config := o.scraper().tls
	await.True(t, "the standby serves it", func() bool {
		conn, err := tls.Dial("tcp", standby.metrics, config)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
}

// Of two replicas one shows LoadTests, for as long as there are any.
func TestLeaderShowsLoadTests(t *testing.T) {
	seldom(t)
	o := newOperators(t)
	leader, standby := o.pair()
	s := o.scraper()
	o.mayRead("prometheus", "/metrics")
	reader := "Bearer " + o.token("prometheus")
	page := func(p *operator) string {
		_, text := s.get("GET", "https://"+p.metrics+"/metrics", reader)
		return text
	}
	lt := &v1beta1.LoadTest{Spec: v1beta1.LoadTestSpec{
		Target: v1beta1.Target{URL: "http://shop:8080"}, Requests: []v1beta1.Request{{Name: "home", HTTP: &v1beta1.HTTPRequest{Path: "/"}}}, Suspend: true,
		Ladder: &v1beta1.Ladder{Users: []int32{10}, Duration: metav1.Duration{Duration: time.Second}},
	}}
	lt.Namespace, lt.Name = o.namespace, "checkout"
	must.Succeed(t, o.client.Create(t.Context(), lt))
	series := `loadtest_phase{name="checkout",namespace="` + o.namespace + `",phase="Suspended"} 1`
	await.True(t, "the leader shows the LoadTest", func() bool { return strings.Contains(page(leader), series) })
	if text := page(standby); strings.Contains(text, "checkout") || !strings.Contains(text, "loadtest_coordinator_sessions") {
		t.Errorf("the standby shows the LoadTest, or nothing at all:\n%.200s", text)
	}
	must.Succeed(t, o.client.Delete(t.Context(), lt))
	await.True(t, "no series of it is left", func() bool { return !strings.Contains(page(leader), "checkout") })
}
