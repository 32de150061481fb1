package objectstore

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/loadtest-dev/loadtest-operator/bucket"
)

// Scheme is how the URLs of what is in an object store begin.
const Scheme = "s3://"

// IsURL says whether it is the URL of something in an object store.
func IsURL(from string) bool { return strings.HasPrefix(from, Scheme) }

// Store is what has a prefix in a bucket.
type Store struct {
	// url is what was asked for, for messages.
	url    string
	bucket bucket.Bucket
	prefix string
	client *http.Client
}

// answerWithin bounds how long a store may take for the head of an answer.
const answerWithin = 30 * time.Second

// Parse is the store that a URL names, s3://BUCKET/PREFIX or s3://BUCKET, with the settings of an
// environment. An error names what is missing, and how it is set.
func Parse(url string, env func(string) string) (*Store, error) {
	name, prefix, _ := strings.Cut(strings.TrimPrefix(url, Scheme), "/")
	if name == "" {
		return nil, fmt.Errorf("%s: has no bucket: give s3://BUCKET/PREFIX", url)
	}
	region := cmp.Or(env("AWS_REGION"), env("AWS_DEFAULT_REGION"), "us-east-1")
	s := &Store{url: url, prefix: strings.Trim(prefix, "/"), bucket: bucket.Bucket{
		Endpoint: cmp.Or(env("AWS_ENDPOINT_URL_S3"), env("AWS_ENDPOINT_URL"), "https://s3."+region+".amazonaws.com"), Name: name, Region: region,
		Credentials: aws.Credentials{AccessKeyID: env("AWS_ACCESS_KEY_ID"), SecretAccessKey: env("AWS_SECRET_ACCESS_KEY"), SessionToken: env("AWS_SESSION_TOKEN")},
	}}
	if !s.bucket.Credentials.HasKeys() {
		return nil, fmt.Errorf("%s: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set; of a profile of the AWS CLI, eval \"$(aws configure export-credentials --format env)\" sets them", url)
	}
	roots, err := trusted(env("AWS_CA_BUNDLE"))
	if err != nil {
		return nil, fmt.Errorf("AWS_CA_BUNDLE: %w", err)
	}
	s.client = &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout: answerWithin, ResponseHeaderTimeout: answerWithin, MaxConnsPerHost: atOnce,
		},
		// A signature is for one URL.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return s, nil
}

// Archive is the key of one archive, if the URL is of one: "" if it is of a folder.
func (s *Store) Archive() string {
	if strings.HasSuffix(s.prefix, ArchiveEnd) {
		return s.prefix
	}
	return ""
}

// trusted returns the authorities of the machine and of a file; nil without a file: the machine's alone.
func trusted(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	more, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(more) {
		return nil, errors.New(file + " has no certificate")
	}
	return roots, nil
}
