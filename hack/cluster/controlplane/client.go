package controlplane

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/layout"
	"github.com/loadtest-dev/loadtest-operator/hack/cluster/pki"
)

// Client calls the API server as the administrator.
type Client struct {
	layout layout.Layout
	http   *http.Client
}

// NewClient reads the administrator's kubeconfig.
func NewClient(l layout.Layout) (*Client, error) {
	content, err := os.ReadFile(l.Admin())
	if err != nil {
		return nil, fmt.Errorf("read the administrator's kubeconfig: %w", err)
	}
	configuration, err := pki.ClientConfig(content)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", l.Admin(), err)
	}
	transport := &http.Transport{TLSClientConfig: configuration, Proxy: nil}
	return &Client{layout: l, http: &http.Client{Transport: transport, Timeout: 5 * time.Second}}, nil
}

// Ready is the check that the API server serves.
func (c *Client) Ready(ctx context.Context) error {
	_, err := c.get(ctx, "/readyz")
	return err
}

// Nodes returns the time of each node's last report that it is ready. It is zero
// for a node that is not ready.
func (c *Client) Nodes(ctx context.Context) (map[string]time.Time, error) {
	content, err := c.get(ctx, "/api/v1/nodes")
	if err != nil {
		return nil, err
	}
	return readiness(content)
}

// readiness reads a list of nodes.
func readiness(list []byte) (map[string]time.Time, error) {
	var nodes struct {
		Items []struct {
			Metadata struct{ Name string }
			Status   struct {
				Conditions []struct {
					Type, Status      string
					LastHeartbeatTime time.Time
				}
			}
		}
	}
	if err := json.Unmarshal(list, &nodes); err != nil {
		return nil, fmt.Errorf("decode nodes: %w", err)
	}
	ready := map[string]time.Time{}
	for _, node := range nodes.Items {
		ready[node.Metadata.Name] = time.Time{}
		for _, condition := range node.Status.Conditions {
			if condition.Type == "Ready" && condition.Status == "True" {
				ready[node.Metadata.Name] = condition.LastHeartbeatTime
			}
		}
	}
	return ready, nil
}

func (c *Client) get(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, layout.APIServer()+path, nil)
	if err != nil {
		return nil, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s: %.200s", path, response.Status, content)
	}
	return content, nil
}

// apply makes objects with the cluster's own kubectl.
func (c *Client) apply(ctx context.Context, documents string) error {
	command := exec.CommandContext(ctx, c.layout.Binary("kubectl"), "--kubeconfig", c.layout.Admin(),
		"apply", "--server-side", "--force-conflicts", "--validate=false", "--filename=-")
	command.Stdin = strings.NewReader(documents)
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("apply the cluster's objects: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}
