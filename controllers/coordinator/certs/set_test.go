package certs

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"testing"
	"time"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

const day = 24 * time.Hour

// trusts says whether a worker that has a CA accepts what a set serves.
func trusts(t *testing.T, ca []byte, s Set, at time.Time) error {
	t.Helper()
	pair, err := tls.X509KeyPair(s.Current.Cert, s.Current.Key)
	must.Succeed(t, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	_, err = pair.Leaf.Verify(x509.VerifyOptions{DNSName: workerv1.ServerName, Roots: roots, CurrentTime: at})
	return err
}

func renew(t *testing.T, s Set, at time.Time) (Set, bool) {
	t.Helper()
	renewed, changed, err := s.Renew(at)
	must.Succeed(t, err)
	return renewed, changed
}

// In four years of uptime, a worker that started on any day can connect for the four
// months after it, whatever was renewed, and the certificate is never near its end.
func TestWorkersTrustTheCoordinatorAcrossRenewals(t *testing.T) {
	type worker struct {
		started time.Time
		ca      []byte
	}
	var workers []worker
	var set Set
	renewals := 0
	for at := now; at.Before(now.Add(4 * validity)); at = at.Add(5 * day) {
		renewed, changed := renew(t, set, at)
		if changed {
			renewals++
		}
		set = renewed
		if err := set.Valid(at); err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		workers = append(workers, worker{at, set.CA()})
		for len(workers) > 0 && at.Sub(workers[0].started) > lead {
			workers = workers[1:]
		}
		for _, w := range workers {
			if err := trusts(t, w.ca, set, at); err != nil {
				t.Fatalf("%s: a worker that started %s before: %v", at, at.Sub(w.started), err)
			}
		}
	}
	if renewals < 12 || renewals > 13 {
		t.Errorf("%d renewals in 4 years, want one each 4 months", renewals)
	}
}

func TestRenew(t *testing.T) {
	old := func(age time.Duration) Pair { return generateAt(t, now.Add(-age)) }
	kept, next, young, due := old(lead), old(0), old(lead-day), old(2*lead)
	for name, tc := range map[string]struct {
		set Set
		// which pairs of the set are served and kept for later; neither: new ones.
		current, next *Pair
	}{
		"nothing kept":                           {set: Set{}},
		"both as they should be":                 {set: Set{kept, next}, current: &kept, next: &next},
		"no next, as earlier releases kept it":   {set: Set{Current: kept}, current: &kept},
		"next was spoilt":                        {set: Set{kept, Pair{CA: []byte("?")}}, current: &kept},
		"current was spoilt":                     {set: Set{Pair{Cert: []byte("?")}, next}, current: &next},
		"current expired, next is young":         {set: Set{old(validity), next}, current: &next},
		"next is known to all workers":           {set: Set{old(2 * lead), kept}, current: &kept},
		"next is a day too young":                {set: Set{kept, young}, current: &kept, next: &young},
		"away for two thirds of a year":          {set: Set{old(3 * lead), due}, current: &due},
		"away for a year":                        {set: Set{old(5 * lead), old(4 * lead)}},
		"made by an operator whose clock is off": {set: Set{old(-day), old(-day)}},
	} {
		t.Run(name, func(t *testing.T) {
			given := tc.set
			got, changed := renew(t, tc.set, now)
			for what, p := range map[string]struct {
				got  Pair
				want *Pair
			}{"current": {got.Current, tc.current}, "next": {got.Next, tc.next}} {
				isOld := p.got.equal(given.Current) || p.got.equal(given.Next)
				if p.want == nil && isOld || p.want != nil && !p.got.equal(*p.want) {
					t.Errorf("%s is not as wanted (one of those given: %t)", what, isOld)
				}
			}
			if changed == got.Equal(given) {
				t.Errorf("changed: %t, and equal: %t", changed, got.Equal(given))
			}
			if err := got.Valid(now); err != nil {
				t.Errorf("the renewed set: %v", err)
			}
			if again, changed := renew(t, got, now); changed || !again.Equal(got) {
				t.Error("renewed again at once")
			}
			for _, p := range []Pair{got.Current, got.Next} {
				if !bytes.Contains(got.CA(), p.CA) {
					t.Error("workers do not get both CAs")
				}
			}
		})
	}
}
