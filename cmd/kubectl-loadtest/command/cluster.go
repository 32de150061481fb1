package command

import (
	"errors"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/document"
)

// cluster is where the flags point.
type cluster struct {
	client.WithWatch
	// namespace is the one of the flag or of the context; explicit says that it
	// is the flag's.
	namespace string
	explicit  bool
}

func (c *config) connect() (*cluster, error) {
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(c.rules, &c.overrides)
	config, err := loader.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, errors.New("there is no kubeconfig: set KUBECONFIG or give --kubeconfig")
	}
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig (--kubeconfig, --context): %w", err)
	}
	config.WarningHandler = rest.NewWarningWriter(c.streams.Err, rest.WarningWriterOptions{Deduplicate: true})
	namespace, explicit, err := loader.Namespace()
	if err != nil {
		return nil, fmt.Errorf("read the namespace of the context (--namespace): %w", err)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1beta1.AddToScheme, corev1.AddToScheme, authenticationv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	direct, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	return &cluster{WithWatch: direct, namespace: namespace, explicit: explicit}, nil
}

// place decides a LoadTest's namespace as kubectl does.
func (c *cluster) place(object *unstructured.Unstructured) error {
	switch named := object.GetNamespace(); {
	case named == "":
		object.SetNamespace(c.namespace)
	case c.explicit && named != c.namespace:
		return fmt.Errorf("LoadTest %s: metadata.namespace is %s, but --namespace is %s; leave out one of them", document.DisplayName(object), named, c.namespace)
	}
	return nil
}
