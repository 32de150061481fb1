package objectstore

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/loadtest-dev/loadtest-operator/bucket"
)

// get asks for a key, or for the bucket where it is empty. The answer is one of success; its
// body is to be closed.
func (s *Store) get(ctx context.Context, key string, query url.Values) (io.ReadCloser, error) {
	request, err := s.bucket.Request(ctx, time.Now(), http.MethodGet, key, query, nil, bucket.EmptySHA256)
	if err != nil {
		return nil, fmt.Errorf("AWS_ENDPOINT_URL: %w", err)
	}
	answer, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode == http.StatusOK {
		return answer.Body, nil
	}
	defer func() { _ = answer.Body.Close() }()
	return nil, refusal(answer, bucket.ErrorCode(answer.Body))
}

// refusal says what a store answered, and what mends it where that is known.
func refusal(answer *http.Response, code string) error {
	said := answer.Status
	if code != "" {
		said += ", " + fmt.Sprintf("%.64q", code)
	}
	switch {
	case answer.StatusCode/100 == 3:
		said += ": the bucket is in another region: set AWS_REGION"
		if region := answer.Header.Get("X-Amz-Bucket-Region"); region != "" {
			said += fmt.Sprintf(" to %.64q", region)
		}
	case answer.StatusCode == http.StatusForbidden:
		said += ": the credentials need s3:ListBucket on the bucket and s3:GetObject on what is in it"
	}
	return fmt.Errorf("the object store answers %s", said)
}
