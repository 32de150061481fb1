//go:build e2e

package e2e

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/soak"
)

// sample measures the process that leads: which one it is, how many collections of
// garbage it has had, and what it holds.
func (s *scraper) sample(ctx context.Context) (process string, cycles int, now soak.Sample, err error) {
	pod, err := leader(ctx)
	if err != nil {
		return "", 0, now, err
	}
	pids, err := processes(pod)
	if err != nil {
		return "", 0, now, err
	}
	folder := "/proc/" + strconv.Itoa(pids[0])
	// The kernel chooses other addresses for each program that is started, be it in the
	// same process.
	vector, err := os.ReadFile(folder + "/auxv")
	if err != nil {
		return "", 0, now, err
	}
	open, err := os.ReadDir(folder + "/fd")
	if err != nil {
		return "", 0, now, err
	}
	values, err := s.scrape(ctx, pod)
	if err != nil {
		return "", 0, now, err
	}
	for _, v := range []struct {
		name string
		into func(float64)
	}{
		{"go_goroutines", func(n float64) { now.Goroutines = int(n) }},
		{"loadtest_coordinator_sessions", func(n float64) { now.Sessions = int(n) }},
		{"process_resident_memory_bytes", func(n float64) { now.Resident = int64(n) }},
		{"go_gc_heap_live_bytes", func(n float64) { now.Live = int64(n) }},
		{"go_gc_cycles_total_gc_cycles_total", func(n float64) { cycles = int(n) }},
	} {
		n, ok := values[v.name]
		if !ok {
			return "", 0, now, fmt.Errorf("%s has no %s", pod.Name, v.name)
		}
		v.into(n)
	}
	now.Descriptors = len(open)
	return fmt.Sprintf("%s %x", pod.Name, sha256.Sum256(vector))[:len(pod.Name)+9], cycles, now, nil
}

// scraper reads metrics as a Prometheus does that has the right to.
type scraper struct {
	client *http.Client
	token  string
}

func newScraper(t *testing.T, namespace string) *scraper {
	t.Helper()
	name := namespace + "-scraper"
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Rules:      []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}},
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "default"}},
	}
	for _, object := range []client.Object{role, binding} {
		if err := cluster.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := cluster.Delete(context.Background(), object); err != nil {
				t.Error(err)
			}
		})
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](4 * 3600)}}
	request, err := cluster.pods.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), "default", request, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var secret corev1.Secret
	if err := cluster.Get(t.Context(), client.ObjectKey{Namespace: operatorNamespace, Name: "loadtest-operator-coordinator"}, &secret); err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(secret.Data["ca.crt"])
	return &scraper{token: request.Status.Token, client: &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: workerv1.ServerName, MinVersion: tls.VersionTLS13},
	}}}
}

// scrape reads the metrics of a replica that have no labels.
func (s *scraper) scrape(ctx context.Context, pod *corev1.Pod) (map[string]float64, error) {
	url := metricsURL(pod)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+s.token)
	response, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, response.Status)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	values := map[string]float64{}
	for name, family := range families {
		if all := family.GetMetric(); len(all) == 1 {
			// One of them is there, and the others are 0.
			values[name] = all[0].GetGauge().GetValue() + all[0].GetCounter().GetValue() + all[0].GetUntyped().GetValue()
		}
	}
	return values, nil
}

// metricsURL is where a replica serves its metrics: over TLS unless the chart has it
// otherwise.
func metricsURL(pod *corev1.Pod) string {
	for _, p := range pod.Spec.Containers[0].Ports {
		if p.Name != "metrics" {
			continue
		}
		scheme := "https"
		if p.ContainerPort == 8080 {
			scheme = "http"
		}
		return scheme + "://" + net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(int(p.ContainerPort))) + "/metrics"
	}
	return ""
}
