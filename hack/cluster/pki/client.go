package pki

import (
	"crypto/tls"
	"crypto/x509"
	"errors"

	"sigs.k8s.io/yaml"
)

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
