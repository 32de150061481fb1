package cluster

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/soak"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// Scraper reads metrics as a Prometheus does that has the right to.
type Scraper struct {
	client *http.Client
	token  string
}

// NewScraper is one with the token of a namespace's default account, which gets the right to read.
func NewScraper(t *testing.T, namespace string) *Scraper {
	t.Helper()
	LetReadMetrics(t, namespace, "default")
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](4 * 3600)}}
	request, err := Clientset.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), "default", request, metav1.CreateOptions{})
	must.Succeed(t, err)
	return &Scraper{token: request.Status.Token, client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: trustOperator(t)}}}
}

// Scrape reads the metrics of a replica, by their names, and by name{value} where they
// have one label.
func (s *Scraper) Scrape(ctx context.Context, pod *corev1.Pod) (map[string]float64, error) {
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
	values, err := soak.Metrics(response.Body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	return values, nil
}

// metricsURL is where a replica serves its metrics.
func metricsURL(pod *corev1.Pod) string {
	for _, p := range pod.Spec.Containers[0].Ports {
		if p.Name == "metrics" {
			return "https://" + net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(int(p.ContainerPort))) + "/metrics"
		}
	}
	return ""
}
