package loadtest

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/certs"
)

// +kubebuilder:rbac:groups="",namespace=system,resources=secrets,verbs=get;create;update

// Certificate is the coordinator's, in PEM.
type Certificate struct {
	CA, Cert, Key []byte
}

const caKey = "ca.crt"

// EnsureCertificate returns the certificate kept in a Secret, or puts a new one
// there. It outlives the operator, so that workers of a running test know the
// operator again when it comes back. c must read past the cache.
func EnsureCertificate(ctx context.Context, c client.Client, clk clock.PassiveClock, name types.NamespacedName) (Certificate, error) {
	secret := &corev1.Secret{}
	err := c.Get(ctx, name, secret)
	if client.IgnoreNotFound(err) != nil {
		return Certificate{}, fmt.Errorf("get Secret %s: %w", name, err)
	}
	missing := apierrors.IsNotFound(err)
	kept := Certificate{CA: secret.Data[caKey], Cert: secret.Data[corev1.TLSCertKey], Key: secret.Data[corev1.TLSPrivateKeyKey]}
	if !missing && certs.Valid(kept.CA, kept.Cert, kept.Key, clk.Now()) == nil {
		return kept, nil
	}
	fresh := Certificate{}
	if fresh.CA, fresh.Cert, fresh.Key, err = certs.Generate(clk.Now()); err != nil {
		return Certificate{}, fmt.Errorf("generate certificate: %w", err)
	}
	secret.Type = corev1.SecretTypeTLS
	secret.Data = map[string][]byte{caKey: fresh.CA, corev1.TLSCertKey: fresh.Cert, corev1.TLSPrivateKeyKey: fresh.Key}
	if missing {
		secret.ObjectMeta = metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}
		err = c.Create(ctx, secret, client.FieldOwner(FieldManager))
	} else {
		err = c.Update(ctx, secret, client.FieldOwner(FieldManager))
	}
	if err != nil {
		return Certificate{}, fmt.Errorf("keep certificate in Secret %s: %w", name, err)
	}
	return fresh, nil
}
