package pki

import (
	"fmt"

	"sigs.k8s.io/yaml"
)

// clusterName is what kubectl shows as cluster and context.
const clusterName = "loadtest"

// Kubeconfig is the file with which user calls the API server at that URL.
func Kubeconfig(server string, authority []byte, user string, pair Pair) ([]byte, error) {
	content, err := yaml.Marshal(map[string]any{
		"apiVersion":      "v1",
		"kind":            "Config",
		"current-context": clusterName,
		"clusters": []any{map[string]any{
			"name":    clusterName,
			"cluster": map[string]any{"server": server, "certificate-authority-data": authority},
		}},
		"users": []any{map[string]any{
			"name": user,
			"user": map[string]any{"client-certificate-data": pair.Certificate, "client-key-data": pair.Key},
		}},
		"contexts": []any{map[string]any{
			"name":    clusterName,
			"context": map[string]any{"cluster": clusterName, "user": user},
		}},
	})
	if err != nil {
		return nil, fmt.Errorf("encode kubeconfig of %q: %w", user, err)
	}
	return content, nil
}
