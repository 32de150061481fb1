package login

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"
)

const (
	// leastLife is how long a token must be good for: one that ends sooner would be obtained
	// again all the time.
	leastLife = 10 * time.Second
	// retryEvery is how soon a token is asked for again at the soonest.
	retryEvery = time.Second
	// maxToken bounds a token: what servers take as one header.
	maxToken = 16 << 10
)

// Issuer issues a token.
type Issuer func(context.Context) (*oauth2.Token, error)

// Token is the token of a login. Obtain comes first; then it is safe for concurrent use.
type Token struct {
	// Name is what messages call the login.
	Name  string
	Issue Issuer

	current atomic.Pointer[issued]
	failure atomic.Pointer[error] // of the last try to renew it; nil: it succeeded
}

// issued is a token that was issued. ends is the zero time if it is not known to end.
type issued struct {
	header   []byte
	at, ends time.Time
}

// Obtain obtains the first token. Its error is an *Unavailable if a later try may succeed.
func (t *Token) Obtain(ctx context.Context) error {
	got, err := t.Issue(ctx)
	if err != nil {
		return err
	}
	next, err := check(got)
	if err != nil {
		return err
	}
	t.current.Store(next)
	return nil
}

// notInToken says whether a character cannot stand in a token in a header.
func notInToken(c rune) bool { return c <= ' ' || c > '~' }

// check refuses a token that cannot stand in a header, or does not last.
func check(got *oauth2.Token) (*issued, error) {
	now := time.Now()
	switch {
	case got.TokenType != "" && !strings.EqualFold(got.TokenType, "bearer"):
		return nil, errors.New("the token is not one of type Bearer")
	case got.AccessToken == "" || strings.ContainsFunc(got.AccessToken, notInToken):
		return nil, errors.New("the token is empty, or has a character that no header may have there")
	case len(got.AccessToken) > maxToken:
		return nil, fmt.Errorf("the token is longer than %d bytes", maxToken)
	case !got.Expiry.IsZero() && got.Expiry.Sub(now) < leastLife:
		return nil, fmt.Errorf("the token ends within %v: have it issued for a longer time", leastLife)
	}
	return &issued{header: []byte("Bearer " + got.AccessToken), at: now, ends: got.Expiry}, nil
}

// Renew obtains the next token when three quarters of the time are over for which the one before
// is good, until ctx ends. If that fails, the one before is kept, and it tries again in a quarter
// of what is left, at the soonest after a second. A token that is not known to end is not renewed.
func (t *Token) Renew(ctx context.Context) {
	for now := t.current.Load(); !now.ends.IsZero(); now = t.current.Load() {
		wait := time.Until(now.at.Add(now.ends.Sub(now.at) * 3 / 4))
		if t.failure.Load() != nil {
			wait = max(time.Until(now.ends)/4, retryEvery)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		if err := t.Obtain(ctx); err != nil {
			t.failure.Store(&err)
		} else {
			t.failure.Store(nil)
		}
	}
}

// Append appends the value of a header Authorization.
func (t *Token) Append(dst []byte) []byte { return append(dst, t.current.Load().header...) }

// Problem says that the token has ended, and why there is no other; "": it has not.
func (t *Token) Problem() string {
	ends, failure := t.current.Load().ends, t.failure.Load()
	if ends.IsZero() || time.Now().Before(ends) {
		return ""
	}
	if failure == nil { // the next is on its way
		return fmt.Sprintf("login %q: the token has ended", t.Name)
	}
	return fmt.Sprintf("login %q: the token has ended and could not be renewed: %v", t.Name, *failure)
}
