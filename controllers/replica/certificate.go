package replica

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/certs"
	"github.com/loadtest-dev/loadtest-operator/controllers/writes"
)

// +kubebuilder:rbac:groups="",namespace=system,resources=secrets,verbs=create
// +kubebuilder:rbac:groups="",namespace=system,resources=secrets,resourceNames=loadtest-operator-coordinator,verbs=get;update

// Keys of the Secret, beside those of its type, which are of the pair that is served.
const (
	caKey       = "ca.crt"
	nextCAKey   = "next-ca.crt"
	nextCertKey = "next-tls.crt"
	nextKeyKey  = "next-tls.key"
)

// Certificates are the coordinator's: kept in a Secret, so that workers of a running
// test know whichever replica leads, and in memory as they were last read.
type Certificates struct {
	// Client reads past the cache, which must not hold Secrets.
	Client client.Client
	Clock  clock.PassiveClock
	Secret types.NamespacedName

	read atomic.Pointer[read]
}

// read is what the Secret had.
type read struct {
	set    certs.Set
	served tls.Certificate
}

// Refresh reads the Secret, renews what is due, and serves what the Secret then has. A
// replica that writes at the same time as another takes what the other wrote.
func (c *Certificates) Refresh(ctx context.Context) error {
	for {
		set, err := c.renew(ctx)
		if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			continue
		}
		if err != nil {
			return err
		}
		return c.serve(set)
	}
}

// renew returns what the Secret has, or now has.
func (c *Certificates) renew(ctx context.Context) (certs.Set, error) {
	secret := &corev1.Secret{}
	secret.Namespace, secret.Name = c.Secret.Namespace, c.Secret.Name
	err := c.Client.Get(ctx, c.Secret, secret)
	if client.IgnoreNotFound(err) != nil {
		return certs.Set{}, fmt.Errorf("get Secret %s: %w", c.Secret, err)
	}
	missing := apierrors.IsNotFound(err)
	kept := fromSecret(secret)
	if last := c.read.Load(); last != nil && kept.Valid(c.Clock.Now()) != nil {
		kept = last.set // deleted or spoilt, while workers verify what is served
	}
	set, _, err := kept.Renew(c.Clock.Now())
	if err != nil {
		return certs.Set{}, fmt.Errorf("renew certificate: %w", err)
	}
	if set.Equal(fromSecret(secret)) {
		return set, nil
	}
	toSecret(set, secret)
	if missing {
		err = c.Client.Create(ctx, secret, client.FieldOwner(writes.FieldManager))
	} else {
		err = c.Client.Update(ctx, secret, client.FieldOwner(writes.FieldManager))
	}
	if err != nil {
		return certs.Set{}, fmt.Errorf("keep certificate in Secret %s: %w", c.Secret, err)
	}
	return set, nil
}

func (c *Certificates) serve(set certs.Set) error {
	served, err := tls.X509KeyPair(set.Current.Cert, set.Current.Key)
	if err != nil {
		return fmt.Errorf("read certificate: %w", err)
	}
	c.read.Store(&read{set, served})
	return nil
}

// CA is what workers that start now are to trust, in PEM; empty before the first
// Refresh.
func (c *Certificates) CA() string {
	if last := c.read.Load(); last != nil {
		return string(last.set.CA())
	}
	return ""
}

// Get is for tls.Config.GetCertificate: the certificate that was last read.
func (c *Certificates) Get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if last := c.read.Load(); last != nil {
		return &last.served, nil
	}
	return nil, errors.New("the coordinator's certificate has not been read")
}

func fromSecret(s *corev1.Secret) certs.Set {
	return certs.Set{
		Current: certs.Pair{CA: s.Data[caKey], Cert: s.Data[corev1.TLSCertKey], Key: s.Data[corev1.TLSPrivateKeyKey]},
		Next:    certs.Pair{CA: s.Data[nextCAKey], Cert: s.Data[nextCertKey], Key: s.Data[nextKeyKey]},
	}
}

func toSecret(set certs.Set, s *corev1.Secret) {
	s.Type = corev1.SecretTypeTLS
	s.Data = map[string][]byte{
		caKey: set.Current.CA, corev1.TLSCertKey: set.Current.Cert, corev1.TLSPrivateKeyKey: set.Current.Key,
		nextCAKey: set.Next.CA, nextCertKey: set.Next.Cert, nextKeyKey: set.Next.Key,
	}
}
