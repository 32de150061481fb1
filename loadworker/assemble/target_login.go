package assemble

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/login"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// logins are how requests log in, in the order of the assignment.
type logins []oneLogin

// oneLogin is a value that does not change, a token that is obtained, or what signs requests.
type oneLogin struct {
	value     string
	token     *login.Token
	signature *login.Signature
	// server is scheme and host of what issues the token.
	server string
}

// newLogins reads the files of an assignment's logins. They may be secret: errors name the files,
// never their text. Tokens are obtained later.
func newLogins(a *workerv1.Assignment, c Config) (logins, error) {
	var list logins
	for _, l := range a.GetLogins() {
		one, err := newLogin(a, l, c)
		if err != nil {
			return nil, fmt.Errorf("login %q: %w", l.GetName(), err)
		}
		list = append(list, one)
	}
	return list, nil
}

func newLogin(a *workerv1.Assignment, l *workerv1.Login, c Config) (oneLogin, error) {
	switch {
	case l.GetOauth2() != nil:
		return newTokenLogin(a, l, c)
	case l.GetAws() != nil:
		return newSignature(l.GetName(), l.GetAws())
	case l.GetTokenFile() != "":
		token, err := readLine(l.GetTokenFile())
		if err == nil && token == "" {
			err = fmt.Errorf("%s is empty", l.GetTokenFile())
		}
		return oneLogin{value: "Bearer " + token}, err
	}
	username, err := readLine(l.GetUsernameFile())
	if err != nil {
		return oneLogin{}, err
	}
	if strings.Contains(username, ":") {
		return oneLogin{}, fmt.Errorf("%s has a colon, which ends the name (RFC 7617)", l.GetUsernameFile())
	}
	password, err := readLine(l.GetPasswordFile())
	return oneLogin{value: "Basic " + base64.StdEncoding.EncodeToString([]byte(username+":"+password))}, err
}

// newTokenLogin is a login whose token is obtained from a target of the assignment, to which
// requests go as others to it do: by its proxy, TLS and policy.
func newTokenLogin(a *workerv1.Assignment, l *workerv1.Login, c Config) (oneLogin, error) {
	o := l.GetOauth2()
	n := int(o.GetTarget())
	if n < 0 || n > len(a.GetOtherTargets()) {
		return oneLogin{}, fmt.Errorf("there is no target %d among %d others", n, len(a.GetOtherTargets()))
	}
	issuer := a.GetTarget()
	if c.policy = &c.Access.target; n > 0 {
		issuer, c.policy = a.GetOtherTargets()[n-1], c.Access.others[n-1]
	}
	connect, err := newClient(issuer, c)
	if err != nil {
		return oneLogin{}, err
	}
	client := login.Client{
		Credentials: func() (login.Credentials, error) { return readCredentials(o) }, Refreshes: o.GetRefreshTokenFile() != "",
		Scopes: o.GetScopes(), Audience: o.GetAudience(), Server: issuer.GetUrl(), Path: o.GetPath(), Connect: connect,
	}
	if _, err := client.Credentials(); err != nil {
		return oneLogin{}, err
	}
	return oneLogin{token: &login.Token{Name: l.GetName(), Issue: client.Issuer()}, server: destination(issuer)}, nil
}

func readCredentials(o *workerv1.OAuth2) (c login.Credentials, err error) {
	err = readLines(lineOf{o.GetClientIdFile(), &c.ID}, lineOf{o.GetClientSecretFile(), &c.Secret}, lineOf{o.GetRefreshTokenFile(), &c.RefreshToken})
	if err == nil && o.GetRefreshTokenFile() != "" && c.RefreshToken == "" {
		err = fmt.Errorf("%s is empty", o.GetRefreshTokenFile())
	}
	return c, err
}

// newSignature is a login by which requests are signed.
func newSignature(name string, a *workerv1.AWS) (oneLogin, error) {
	var id, secret, session string
	err := readLines(lineOf{a.GetAccessKeyIdFile(), &id}, lineOf{a.GetSecretAccessKeyFile(), &secret}, lineOf{a.GetSessionTokenFile(), &session})
	if err != nil {
		return oneLogin{}, err
	}
	s, err := login.NewSignature(id, secret, session, a.GetRegion(), a.GetService())
	if err != nil {
		return oneLogin{}, err
	}
	s.Name = name
	return oneLogin{signature: s}, nil
}

// lineOf is a file, and what its line is read into. Of an empty path, nothing is read.
type lineOf struct {
	path string
	into *string
}

func readLines(list ...lineOf) (err error) {
	for _, f := range list {
		if f.path == "" {
			continue
		}
		if *f.into, err = readLine(f.path); err != nil {
			return err
		}
	}
	return nil
}

// readLine reads a file without the line break with which a file ends that was written by hand.
func readLine(path string) (string, error) {
	text, err := readFile(path, maxHeaderFile)
	if text = strings.TrimRight(text, "\r\n"); err == nil && strings.ContainsAny(text, "\r\n\x00") {
		return "", fmt.Errorf("%s holds a line break or a zero byte", path)
	}
	return text, err
}

// header is the header that a login makes, of a request for a server.
func (l logins) header(h *workerv1.Header, server *workerv1.Target) (source.Header, error) {
	n := int(h.GetLogin())
	if n < 1 || n > len(l) {
		return source.Header{}, fmt.Errorf("there is no login %d among %d", n, len(l))
	}
	out := source.Header{Name: h.GetName()}
	switch one := l[n-1]; {
	case one.token != nil:
		out.Credential = one.token
	case one.signature != nil:
		to, err := login.NewServer(server.GetUrl())
		out.Signer = signer{one.signature, to}
		return out, err
	default:
		out.Value, out.Literal = one.value, true
	}
	return out, nil
}

// signer signs requests for a server.
type signer struct {
	*login.Signature
	to login.Server
}

var _ source.Signer = signer{}

// Sign signs a request.
func (s signer) Sign(r *transport.Request) { s.Signature.Sign(s.to, r) }

// obtain obtains all tokens, and begins to renew each at once: a server may be out of reach for longer than the token of
// another lasts.
func (l logins) obtain(ctx context.Context, notReady func(error), r *renewing) error {
	for _, one := range l {
		if one.token == nil {
			continue
		}
		notReady(fmt.Errorf("login %q: %s is being asked for a token", one.token.Name, one.server))
		if err := untilReachable(ctx, notReady, one.obtain); err != nil {
			return err
		}
		r.start(one.token)
	}
	return nil
}

// obtain asks for the token once.
func (l oneLogin) obtain(ctx context.Context) *Refusal {
	err := l.token.Obtain(ctx)
	if err == nil {
		return nil
	}
	said := fmt.Errorf("login %q: no token from %s: %w", l.token.Name, l.server, err)
	if _, later := errors.AsType[*login.Unavailable](err); later {
		return &Refusal{workerv1.ReasonTargetUnreachable, said}
	}
	return &Refusal{workerv1.ReasonInvalidSpec, said}
}

// renewing is what renews tokens. The zero value renews none.
type renewing struct {
	ctx    context.Context
	cancel context.CancelFunc // nil: nothing is renewed
}

// start renews a token in the background, until end.
func (r *renewing) start(t *login.Token) {
	if r.cancel == nil {
		r.ctx, r.cancel = context.WithCancel(context.Background())
	}
	go t.Renew(r.ctx)
}

// end ends it. It may be called again.
func (r *renewing) end() {
	if r.cancel != nil {
		r.cancel()
	}
}
