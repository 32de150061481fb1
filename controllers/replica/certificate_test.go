package replica_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/replica"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// replicas are operators that share a Secret and a clock.
type replicas struct {
	t      *testing.T
	client client.Client
	clock  *clocktesting.FakePassiveClock
	secret types.NamespacedName
}

func newReplicas(t *testing.T) *replicas {
	return &replicas{
		t: t, client: apiserver.Client(t), clock: clocktesting.NewFakePassiveClock(time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)),
		secret: types.NamespacedName{Namespace: apiserver.Namespace(t), Name: "coordinator"},
	}
}

// start returns a replica that has read nothing yet.
func (r *replicas) start() *replica.Certificates {
	return &replica.Certificates{Client: r.client, Clock: r.clock, Secret: r.secret}
}

func (r *replicas) refresh(c *replica.Certificates) {
	r.t.Helper()
	must.Succeed(r.t, c.Refresh(r.t.Context()))
}

// change changes what the Secret has.
func (r *replicas) change(f func(data map[string][]byte)) {
	r.t.Helper()
	secret := &corev1.Secret{}
	must.Succeed(r.t, r.client.Get(r.t.Context(), r.secret, secret))
	f(secret.Data)
	must.Succeed(r.t, r.client.Update(r.t.Context(), secret))
}

// served is the certificate that workers are shown.
func served(t *testing.T, c *replica.Certificates) *x509.Certificate {
	t.Helper()
	pair, err := c.Get(&tls.ClientHelloInfo{})
	must.Succeed(t, err)
	return pair.Leaf
}

// trusted says whether a worker of a Job that was made with a CA can connect.
func trusted(t *testing.T, ca string, c *replica.Certificates, at time.Time) bool {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(ca))
	_, err := served(t, c).Verify(x509.VerifyOptions{DNSName: workerv1.ServerName, Roots: roots, CurrentTime: at})
	return err == nil
}

func TestCertificateOutlivesTheOperator(t *testing.T) {
	t.Parallel()
	r := newReplicas(t)
	first, second := r.start(), r.start()
	r.refresh(first)
	r.refresh(second)
	if !served(t, first).Equal(served(t, second)) || first.CA() != second.CA() {
		t.Error("a restart changed the certificate")
	}
}

func TestReplicasThatStartAtOnceShareACertificate(t *testing.T) {
	t.Parallel()
	r := newReplicas(t)
	all := make([]*replica.Certificates, 8)
	var group sync.WaitGroup
	for i := range all {
		all[i] = r.start()
		group.Go(func() {
			if err := all[i].Refresh(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for i, c := range all {
		if c.CA() != all[0].CA() || !served(t, c).Equal(served(t, all[0])) {
			t.Errorf("replica %d has another certificate than replica 0", i)
		}
	}
}

// A year of uptime in which two replicas lead in turn, and each reads when it begins to:
// what it serves is valid, and trusted by every worker of the last 100 days.
func TestCertificateIsRenewedWithoutARestart(t *testing.T) {
	t.Parallel()
	r := newReplicas(t)
	both := []*replica.Certificates{r.start(), r.start()}
	for _, c := range both {
		r.refresh(c)
	}
	first := served(t, both[0])
	var jobs []string // the CAs of Jobs, one every five days
	for day := 0; day <= 366; day += 5 {
		now := r.clock.Now()
		c := both[day/5%2]
		r.refresh(c)
		jobs = append(jobs, c.CA())
		for i, ca := range jobs[max(0, len(jobs)-20):] {
			if !trusted(t, ca, c, now) {
				t.Fatalf("day %d: Job %d of the last 20 does not trust the leader", day, i)
			}
		}
		r.clock.SetTime(now.AddDate(0, 0, 5))
	}
	if served(t, both[0]).Equal(first) {
		t.Error("the certificate was not renewed in a year")
	}
}

// Workers verify what is served: a Secret that was deleted or spoilt is written again.
func TestSecretThatIsGoneIsRestored(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(*replicas){
		"deleted": func(r *replicas) {
			secret := &corev1.Secret{}
			secret.Namespace, secret.Name = r.secret.Namespace, r.secret.Name
			must.Succeed(r.t, r.client.Delete(r.t.Context(), secret))
		},
		"spoilt":          func(r *replicas) { r.change(func(d map[string][]byte) { d[corev1.TLSCertKey] = []byte("broken") }) },
		"its next spoilt": func(r *replicas) { r.change(func(d map[string][]byte) { delete(d, "next-ca.crt") }) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newReplicas(t)
			c := r.start()
			r.refresh(c)
			ca := c.CA()
			harm(r)
			r.refresh(c)
			restarted := r.start()
			r.refresh(restarted)
			if c.CA() != ca || restarted.CA() != ca {
				t.Error("workers that run do not accept the certificate any more")
			}
		})
	}
}

func TestBrokenSecretIsReplaced(t *testing.T) {
	t.Parallel()
	r := newReplicas(t)
	r.refresh(r.start())
	r.change(func(d map[string][]byte) {
		for key := range d {
			d[key] = []byte("broken")
		}
	})
	c := r.start()
	r.refresh(c)
	if !trusted(t, c.CA(), c, r.clock.Now()) {
		t.Error("the broken certificate was kept")
	}
	secret := &corev1.Secret{}
	must.Succeed(t, r.client.Get(t.Context(), r.secret, secret))
	if secret.Type != corev1.SecretTypeTLS || slices.Equal(secret.Data[corev1.TLSCertKey], []byte("broken")) {
		t.Errorf("the Secret is of type %s with the broken certificate", secret.Type)
	}
}

// A certificate that is not kept is one that workers would refuse tomorrow.
func TestCertificateThatCannotBeKeptIsNotServed(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{1: "get Secret ", 2: "keep certificate in Secret "} {
		calls := 0
		r := newReplicas(t)
		r.client = apiserver.Failing(apiserver.Client(t), func() error {
			if calls++; calls == n {
				return errors.New("the server has a bad day")
			}
			return nil
		})
		c := r.start()
		err := c.Refresh(t.Context())
		if err == nil || !strings.HasPrefix(err.Error(), want) || c.CA() != "" {
			t.Errorf("call %d fails: got %v and a CA of %d bytes, want that it cannot %s", n, err, len(c.CA()), want)
		}
		if _, err := c.Get(nil); err == nil {
			t.Errorf("call %d fails: a certificate is served", n)
		}
	}
}
