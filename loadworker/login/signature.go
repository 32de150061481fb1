package login

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// Signature signs requests of HTTP (AWS Signature Version 4). It is safe for concurrent use.
type Signature struct {
	// Name is what messages call the login.
	Name string

	keys            aws.Credentials
	region, service string
	signer          *v4.Signer
	unsigned        atomic.Bool // a request could not be signed
}

// NewSignature returns what signs for a service of a region. A session token is "" unless the
// credentials are temporary.
func NewSignature(accessKeyID, secretAccessKey, sessionToken, region, service string) (*Signature, error) {
	if accessKeyID == "" || secretAccessKey == "" {
		return nil, errors.New("the id of the access key, or its secret, is empty")
	}
	if strings.ContainsFunc(accessKeyID+sessionToken, notInToken) {
		return nil, errors.New("the id of the access key, or the token of the session, has a character that no header may have there")
	}
	return &Signature{
		keys:   aws.Credentials{AccessKeyID: accessKeyID, SecretAccessKey: secretAccessKey, SessionToken: sessionToken},
		region: region, service: service,
		// The object store of AWS takes a path as it is, and all other services encode it once more.
		signer: v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = service == "s3" }),
	}, nil
}

// Problem says that a request was sent without a signature; "": none was.
func (s *Signature) Problem() string {
	if !s.unsigned.Load() {
		return ""
	}
	return fmt.Sprintf("login %q: some are sent without a signature, as their path or query is no URL: it must have two digits after each %% and no semicolon in the query", s.Name)
}

// Server is where signed requests go: a URL of scheme and host.
type Server struct{ scheme, host string }

// NewServer parses a URL of scheme and host. A port that the scheme has by default is no part of
// what is signed.
func NewServer(address string) (Server, error) {
	u, err := url.Parse(address)
	if err != nil {
		return Server{}, err
	}
	port := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	return Server{u.Scheme, strings.TrimSuffix(u.Host, port)}, nil
}

// sumHeader has the sum of the body, without which some services refuse a request.
const sumHeader = "X-Amz-Content-Sha256"

// signedHeaders are those that a signature adds, and what follows from it.
var signedHeaders = []string{sumHeader, "X-Amz-Date", "X-Amz-Security-Token", "Authorization"}

// Sign adds the headers of a signature of this moment to a request. It covers method, host, path,
// query, body and the headers that the request has. The query is replaced by the one that is
// signed: sorted, and with each name and value percent-encoded. A request that cannot be signed, or
// has a header Authorization of its own, stays as it is.
func (s *Signature) Sign(to Server, q *transport.Request) {
	if slices.ContainsFunc(q.Headers, func(h transport.Header) bool { return h.Name == "Authorization" }) {
		return
	}
	at, err := url.ParseRequestURI(string(q.Path))
	if err == nil {
		_, err = url.ParseQuery(at.RawQuery)
	}
	if err != nil {
		s.unsigned.Store(true)
		return
	}
	at.Scheme, at.Host = to.scheme, to.host
	q.Headers = slices.DeleteFunc(q.Headers, func(h transport.Header) bool { return slices.Contains(signedHeaders, h.Name) })
	r := &http.Request{
		Method: q.Method, URL: at, Host: cmp.Or(string(q.Host), to.host),
		Header: make(http.Header, len(q.Headers)+len(signedHeaders)), ContentLength: int64(len(q.Body)),
	}
	for _, h := range q.Headers {
		r.Header[h.Name] = append(r.Header[h.Name], string(h.Value))
	}
	body := sha256.Sum256(q.Body)
	sum := hex.EncodeToString(body[:])
	r.Header.Set(sumHeader, sum)
	if err := s.signer.SignHTTP(context.Background(), s.keys, r, sum, s.service, s.region, time.Now()); err != nil {
		s.unsigned.Store(true)
		return
	}
	q.Path, q.Host = []byte(at.RequestURI()), []byte(r.Host)
	for _, name := range signedHeaders {
		if value := r.Header.Get(name); value != "" {
			q.Headers = append(q.Headers, transport.Header{Name: name, Value: []byte(value)})
		}
	}
}
