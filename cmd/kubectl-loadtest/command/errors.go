package command

import (
	"errors"
	"fmt"
	"net"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// explain adds a remedy to an error of the API server.
func explain(err error) error {
	var network *net.OpError
	var address *url.Error
	switch {
	case meta.IsNoMatchError(err), isUnknownResource(err):
		return errors.New("the cluster has no LoadTests (loadtest.dev/v1beta1): install the operator, with\n" +
			"  helm upgrade --install loadtest-operator charts/loadtest-operator --namespace loadtest-system --create-namespace\n" +
			"or choose another cluster with --context or --kubeconfig")
	case isNotFound(err, "loadtests"):
		return fmt.Errorf("%w: kubectl get loadtests --all-namespaces lists the existing ones; --namespace and --context say where to look", err)
	case isNotFound(err, "loadtestschedules"):
		return fmt.Errorf("%w: kubectl loadtest list --all-namespaces lists the existing ones; --namespace and --context say where to look", err)
	case isNotFound(err, "namespaces"):
		return fmt.Errorf("%w: create it with kubectl create namespace, or choose another with --namespace", err)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%w: run needs the verbs create, get, list and watch on loadtests.loadtest.dev, as rerun does, --from also get on loadtestschedules.loadtest.dev, --replace also delete, --resume and cancel also patch; watch, report and ui need get, list and watch; ConfigMaps and Secrets of the files need patch and create", err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("%w: the credentials of the kubeconfig are not accepted; choose others with --context or --user", err)
	case errors.As(err, &network) && errors.As(err, &address):
		return fmt.Errorf("%w: the API server cannot be reached; choose another cluster with --context or --kubeconfig", err)
	}
	return err
}

func isNotFound(err error, resource string) bool {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	return details != nil && details.Kind == resource
}

// isUnknownResource is a path that the server does not serve: unlike an object
// that is not there, it has no name.
func isUnknownResource(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	return details == nil || details.Name == "" || hasCause(details, metav1.CauseTypeUnexpectedServerResponse)
}

func hasCause(details *metav1.StatusDetails, kind metav1.CauseType) bool {
	for _, cause := range details.Causes {
		if cause.Type == kind {
			return true
		}
	}
	return false
}
