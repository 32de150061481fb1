package login

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

const (
	// maxAnswer bounds the answer of a server of tokens, in bytes.
	maxAnswer = 64 << 10
	// timeout bounds one request for a token.
	timeout = 10 * time.Second
)

// Client is who asks for a token, and how.
type Client struct {
	// Credentials reads the current credentials. It is called for each token, because a Secret may
	// be replaced during a run.
	Credentials func() (Credentials, error)
	// Refreshes says that a refresh token is exchanged, and not the client's own credentials.
	Refreshes bool
	// Scopes and Audience are asked for with the client's own credentials.
	Scopes   []string
	Audience string
	// Server is scheme and host of the server of tokens, Path the path there, and Connect the
	// client that sends to it.
	Server, Path string
	Connect      transport.Client
}

// Credentials are the client's own, and its refresh token if it has one.
type Credentials struct{ ID, Secret, RefreshToken string }

// Unavailable is the error of a server of tokens that may issue one later.
type Unavailable struct{ Err error }

func (e *Unavailable) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Unavailable) Unwrap() error { return e.Err }

// Issuer returns what obtains tokens, one after another. If the server issues another refresh
// token with one, that is the next that is exchanged, unless there is another in the credentials by
// then.
func (c Client) Issuer() Issuer {
	if c.Refreshes {
		return c.refreshing()
	}
	config := clientcredentials.Config{TokenURL: c.Server + c.Path, Scopes: c.Scopes}
	if c.Audience != "" {
		config.EndpointParams = url.Values{"audience": {c.Audience}}
	}
	return func(ctx context.Context) (*oauth2.Token, error) {
		now, err := c.Credentials()
		if err != nil {
			return nil, err
		}
		config.ClientID, config.ClientSecret = now.ID, now.Secret
		return c.exchange(ctx, config.Token)
	}
}

func (c Client) refreshing() Issuer {
	config := oauth2.Config{Endpoint: oauth2.Endpoint{TokenURL: c.Server + c.Path}}
	var given, next string // the refresh token of the credentials, and the one to exchange
	return func(ctx context.Context) (*oauth2.Token, error) {
		now, err := c.Credentials()
		if err != nil {
			return nil, err
		}
		if config.ClientID, config.ClientSecret = now.ID, now.Secret; now.RefreshToken != given {
			given, next = now.RefreshToken, now.RefreshToken
		}
		token, err := c.exchange(ctx, func(ctx context.Context) (*oauth2.Token, error) {
			return config.TokenSource(ctx, &oauth2.Token{RefreshToken: next}).Token()
		})
		if err == nil && token.RefreshToken != "" {
			next = token.RefreshToken
		}
		return token, err
	}
}

// exchange obtains a token over connections of this client.
func (c Client) exchange(ctx context.Context, obtain func(context.Context) (*oauth2.Token, error)) (*oauth2.Token, error) {
	way := &roundTripper{client: c.Connect}
	token, err := obtain(context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: way, CheckRedirect: notFollowed}))
	if err == nil {
		return token, nil
	}
	return nil, way.explain(err)
}

// notFollowed returns a redirect as it is: the policy has not judged where it leads.
func notFollowed(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// roundTripper sends requests of net/http by a client of package transport. It remembers how the
// last one ended: errors of package oauth2 quote what the server answered, which may be a token.
type roundTripper struct {
	client transport.Client
	status int
	err    error
}

// RoundTrip sends a request over a connection of its own.
func (t *roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	conn := t.client.NewConn()
	defer conn.Close()
	defer context.AfterFunc(r.Context(), conn.Interrupt)()
	request := &transport.Request{Method: r.Method, Path: []byte(r.URL.RequestURI()), Body: body, Keep: maxAnswer}
	for name, values := range r.Header {
		for _, value := range values {
			request.Headers = append(request.Headers, transport.Header{Name: name, Value: []byte(value)})
		}
	}
	response, err := conn.Do(r.Context(), request, time.Now().Add(timeout))
	if t.status, t.err = response.Status, err; err != nil {
		return nil, err
	}
	if response.Size > maxAnswer {
		t.err = fmt.Errorf("its answer is larger than %d bytes", maxAnswer)
		return nil, t.err
	}
	// Without a Content-Type, package oauth2 reads JSON, as RFC 6749 has it.
	return &http.Response{
		StatusCode: response.Status, Status: http.StatusText(response.Status), Header: http.Header{}, Request: r,
		Body: io.NopCloser(bytes.NewReader(bytes.Clone(response.Body))),
	}, nil
}

// explain says why there is no token, without a word of what was answered.
func (t *roundTripper) explain(err error) error {
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case t.err != nil && t.status == 0:
		return &Unavailable{t.err}
	case t.err != nil:
		return t.err
	case t.status >= 300 && t.status < 400:
		return fmt.Errorf("it answered status %d, a redirect, which is not followed", t.status)
	case t.status >= 500, t.status == http.StatusTooManyRequests:
		return &Unavailable{fmt.Errorf("it answered status %d", t.status)}
	case ok && codes[refused.ErrorCode]:
		return fmt.Errorf("it answered status %d, %s", t.status, refused.ErrorCode)
	case t.status >= 400:
		return fmt.Errorf("it answered status %d", t.status)
	}
	return errors.New("its answer has no token in JSON, as RFC 6749 (5.1) has it")
}

// codes are what a server may call an error (RFC 6749, 5.2).
var codes = map[string]bool{
	"invalid_request": true, "invalid_client": true, "invalid_grant": true,
	"unauthorized_client": true, "unsupported_grant_type": true, "invalid_scope": true,
}
