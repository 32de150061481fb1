package loadtest_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
)

// The certificate must outlive the operator: workers of a running test know it.
func TestEnsureCertificate(t *testing.T) {
	c := apiserver.Client(t)
	name := types.NamespacedName{Namespace: apiserver.Namespace(t), Name: "coordinator"}
	clk := clocktesting.NewFakePassiveClock(time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC))
	ensure := func() loadtest.Certificate {
		t.Helper()
		got, err := loadtest.EnsureCertificate(t.Context(), c, clk, name)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}

	first := ensure()
	if diff := cmp.Diff(first, ensure()); diff != "" {
		t.Errorf("a restart changed the certificate (-first +again):\n%s", diff)
	}

	secret := &corev1.Secret{}
	if err := c.Get(t.Context(), name, secret); err != nil {
		t.Fatal(err)
	}
	if secret.Type != corev1.SecretTypeTLS {
		t.Errorf("the Secret is of type %s, want %s", secret.Type, corev1.SecretTypeTLS)
	}
	secret.Data[corev1.TLSCertKey] = []byte("broken")
	if err := c.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	mended := ensure()
	if cmp.Equal(first.Cert, mended.Cert) || cmp.Equal([]byte("broken"), mended.Cert) {
		t.Error("a broken certificate was kept")
	}
	if diff := cmp.Diff(mended, ensure()); diff != "" {
		t.Errorf("a restart changed the mended certificate (-first +again):\n%s", diff)
	}

	clk.SetTime(clk.Now().AddDate(20, 0, 0))
	if cmp.Equal(mended.Cert, ensure().Cert) {
		t.Error("an expired certificate was kept")
	}
}

// A certificate that is not kept is one that workers would not know tomorrow.
func TestCertificateThatCannotBeKept(t *testing.T) {
	clk := clocktesting.NewFakePassiveClock(time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC))
	for n, want := range map[int]string{1: "get Secret ", 2: "keep certificate in Secret "} {
		calls := 0
		c := failing(apiserver.Client(t), func() error {
			if calls++; calls == n {
				return errors.New("the server has a bad day")
			}
			return nil
		})
		got, err := loadtest.EnsureCertificate(t.Context(), c, clk, types.NamespacedName{Namespace: apiserver.Namespace(t), Name: "coordinator"})
		if err == nil || !strings.HasPrefix(err.Error(), want) || got.Key != nil {
			t.Errorf("call %d fails: got %v and a key of %d bytes, want that it cannot %s", n, err, len(got.Key), want)
		}
	}
}
