package pki

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
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

// ClientConfig is what a client of the API server needs, from a kubeconfig as
// Kubeconfig makes it.
func ClientConfig(kubeconfig []byte) (*tls.Config, error) {
	var file struct {
		Clusters []struct {
			Cluster struct {
				Authority []byte `json:"certificate-authority-data"`
			} `json:"cluster"`
		} `json:"clusters"`
		Users []struct {
			User struct {
				Certificate []byte `json:"client-certificate-data"`
				Key         []byte `json:"client-key-data"`
			} `json:"user"`
		} `json:"users"`
	}
	if err := yaml.Unmarshal(kubeconfig, &file); err != nil {
		return nil, err
	}
	if len(file.Clusters) != 1 || len(file.Users) != 1 {
		return nil, errors.New("want one cluster and one user")
	}
	pair, err := tls.X509KeyPair(file.Users[0].User.Certificate, file.Users[0].User.Key)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(file.Clusters[0].Cluster.Authority) {
		return nil, errors.New("certificate-authority-data has no certificate")
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: roots}, nil
}
