package certs

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"slices"
	"time"
)

// lead is the age at which a pair is served: until then it was Next, and workers that
// started in that time have its CA. It is a third of the validity, so that a pair is
// served from a third to two thirds of its life, and the last third is left for an
// operator that was away.
const lead = validity / 3

// Set is all that the coordinator keeps: the pair that it serves, and the one that it
// will serve next. Workers get the CAs of both when their Job is made and never again,
// so that they can connect for at least lead, whatever is renewed meanwhile.
type Set struct {
	Current, Next Pair
}

// Renew returns the set for now, and whether it is another. A pair that cannot be used
// is replaced, and Next takes the place of Current when it is old enough to be known to
// every worker, or when Current cannot be used.
func (s Set) Renew(now time.Time) (renewed Set, changed bool, err error) {
	usable := s.Current.Valid(now) == nil
	if s.Next.Valid(now) == nil && (!usable || s.Next.age(now) >= lead) {
		s.Current, s.Next, usable, changed = s.Next, Pair{}, true, true
	}
	for _, missing := range []struct {
		pair   *Pair
		usable bool
	}{{&s.Current, usable}, {&s.Next, s.Next.Valid(now) == nil}} {
		if missing.usable {
			continue
		}
		if *missing.pair, err = Generate(now); err != nil {
			return Set{}, false, err
		}
		changed = true
	}
	return s, changed, nil
}

// Valid is nil if both pairs can be used now and for 30 days.
func (s Set) Valid(now time.Time) error {
	return errors.Join(s.Current.Valid(now), s.Next.Valid(now))
}

// CA is what workers that start now are to trust, in PEM.
func (s Set) CA() []byte { return slices.Concat(s.Current.CA, s.Next.CA) }

// Equal says whether both have the same pairs.
func (s Set) Equal(other Set) bool {
	return s.Current.equal(other.Current) && s.Next.equal(other.Next)
}

func (p Pair) equal(other Pair) bool {
	return bytes.Equal(p.CA, other.CA) && bytes.Equal(p.Cert, other.Cert) && bytes.Equal(p.Key, other.Key)
}

// age is the time since the pair, which is valid, was made.
func (p Pair) age(now time.Time) time.Duration {
	block, _ := pem.Decode(p.Cert)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return 0
	}
	return now.Sub(cert.NotBefore.Add(backdate))
}
