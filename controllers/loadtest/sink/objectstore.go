package sink

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"k8s.io/utils/clock"

	"github.com/loadtest-dev/loadtest-operator/bucket"
)

// ObjectStore is a bucket.
type ObjectStore struct {
	// Endpoint is its URL, without the bucket.
	Endpoint, Bucket, Region string
	// Keys is the folder with the files accessKeyID and secretAccessKey, and perhaps
	// sessionToken and ca.crt. They are read each time, so that they can be renewed.
	Keys  string
	Clock clock.PassiveClock
}

var _ Store = ObjectStore{}

// Location is a URL as the store's own tools have it.
func (s ObjectStore) Location(key string) string { return "s3://" + path.Join(s.Bucket, key) }

// Put writes an object unless it is there already, and reads it back.
func (s ObjectStore) Put(ctx context.Context, key string, c Content) error {
	credentials, err := s.credentials()
	if err != nil {
		return err
	}
	return Connected(filepath.Join(s.Keys, "ca.crt"), func(client *http.Client) error {
		o := object{s, credentials, client, key}
		if err := o.has(ctx, c); !isAnswer(err) {
			return err
		}
		if err := o.put(ctx, c); err != nil {
			return err
		}
		return o.has(ctx, c)
	})
}

// isAnswer says whether the store has answered, and has not the content.
func isAnswer(err error) bool { return errors.As(err, &answered{}) || errors.Is(err, errDiffers) }

func (s ObjectStore) credentials() (aws.Credentials, error) {
	c := aws.Credentials{}
	for _, f := range []struct {
		name     string
		to       *string
		optional bool
	}{{"accessKeyID", &c.AccessKeyID, false}, {"secretAccessKey", &c.SecretAccessKey, false}, {"sessionToken", &c.SessionToken, true}} {
		content, err := os.ReadFile(filepath.Join(s.Keys, f.name))
		if *f.to = strings.TrimSpace(string(content)); !f.optional && (err != nil || *f.to == "") {
			return c, Problem("the file " + f.name + " of its credentials cannot be read, or is empty")
		}
	}
	return c, nil
}

// object is one that is asked for.
type object struct {
	store       ObjectStore
	credentials aws.Credentials
	client      *http.Client
	key         string
}

// has is nil if the store has the content.
func (o object) has(ctx context.Context, c Content) error {
	request, err := o.request(ctx, http.MethodGet, nil, bucket.EmptySHA256)
	if err != nil {
		return err
	}
	answer, err := o.client.Do(request)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return failure(answer)
	}
	defer func() { _ = answer.Body.Close() }()
	return c.is(answer.Body)
}

func (o object) put(ctx context.Context, c Content) error {
	from, to := io.Pipe()
	defer func() { _ = from.Close() }() // which ends the writing
	go func() { _ = to.CloseWithError(c.Write(ctx, to)) }()
	request, err := o.request(ctx, http.MethodPut, from, c.SHA256)
	if err != nil {
		return err
	}
	request.ContentLength = c.Size
	answer, err := o.client.Do(request)
	if err != nil {
		return err
	}
	return failure(answer)
}

// request is a signed one.
func (o object) request(ctx context.Context, method string, body io.Reader, sum string) (*http.Request, error) {
	in := bucket.Bucket{Endpoint: o.store.Endpoint, Name: o.store.Bucket, Region: o.store.Region, Credentials: o.credentials}
	request, err := in.Request(ctx, o.store.Clock.Now(), method, path.Clean(o.key), nil, body, sum)
	if err == nil && method == http.MethodPut {
		request.Header.Set("Content-Type", "application/gzip")
	}
	return request, err
}

// failure is nil for an answer of success.
func failure(answer *http.Response) error {
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode/100 == 2 {
		return nil
	}
	return answered{answer.StatusCode, bucket.ErrorCode(answer.Body)}
}
