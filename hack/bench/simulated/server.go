package simulated

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

const (
	// Namespace is where the LoadTests are.
	Namespace = "bench"
	// OperatorNamespace is where the operator's own objects are.
	OperatorNamespace = "loadtest-system"
	// account is the service account of the workers' pods.
	account = "default"
)

// Server is an API server with its store.
type Server struct {
	Client     client.WithWatch
	Kubeconfig string // a file

	environment *envtest.Environment
}

// StartServer starts the programs that KUBEBUILDER_ASSETS names, with this repository's
// CRD. folder takes its files.
func StartServer(ctx context.Context, root, folder string) (*Server, error) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		return nil, errors.New("KUBEBUILDER_ASSETS is not set: it names the folder of kube-apiserver and etcd; make bench-operator sets it")
	}
	s := &Server{
		Kubeconfig:  filepath.Join(folder, "kubeconfig"),
		environment: &envtest.Environment{UseExistingCluster: new(false), CRDDirectoryPaths: []string{filepath.Join(root, "config", "crd", "bases")}, ErrorIfCRDPathMissing: true},
	}
	s.environment.ControlPlane.Etcd = &envtest.Etcd{}
	s.environment.ControlPlane.Etcd.Configure().Append("quota-backend-bytes", "17179869184") // 10,000 LoadTests are more than the default
	config, err := s.environment.Start()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the API server: %w", err), s.environment.Stop())
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1beta1.AddToScheme(scheme)); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	config.QPS = -1 // the benchmark must not wait for itself
	if s.Client, err = client.NewWithWatch(config, client.Options{Scheme: scheme}); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	if err := errors.Join(os.WriteFile(s.Kubeconfig, s.environment.KubeConfig, 0o600), s.prepare(ctx)); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (s *Server) prepare(ctx context.Context) error {
	for _, name := range []string{Namespace, OperatorNamespace} {
		namespace := &corev1.Namespace{}
		namespace.Name = name
		if err := s.Client.Create(ctx, namespace); err != nil {
			return fmt.Errorf("create namespace %s: %w", name, err)
		}
	}
	workers := &corev1.ServiceAccount{}
	workers.Namespace, workers.Name = Namespace, account
	if err := s.Client.Create(ctx, workers); err != nil {
		return fmt.Errorf("create the workers' account: %w", err)
	}
	return nil
}

// Stop ends the server and drops what it stored.
func (s *Server) Stop() error { return s.environment.Stop() }
