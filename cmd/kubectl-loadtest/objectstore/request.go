package objectstore

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// emptySHA256 is the sum of no bytes.
const emptySHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// maxList bounds what is read of a page of a list, which has at most 1,000 keys of 1 KiB.
const maxList = 8 << 20

// get asks for a key, or for the bucket where it is empty. The answer is one of success; its
// body is to be closed.
func (s *Store) get(ctx context.Context, key string, query url.Values) (io.ReadCloser, error) {
	at := &url.URL{Path: "/" + s.bucket}
	if key != "" {
		at.Path += "/" + key
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.endpoint+escaped(at.Path), nil)
	if err != nil {
		return nil, fmt.Errorf("AWS_ENDPOINT_URL: %w", err)
	}
	request.URL.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
	request.Header.Set("X-Amz-Content-Sha256", emptySHA256)
	request.Header.Set("Accept-Encoding", "identity") // an archive is a compressed file
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	if err := signer.SignHTTP(ctx, s.credentials, request, emptySHA256, "s3", s.region, time.Now()); err != nil {
		return nil, err
	}
	answer, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode == http.StatusOK {
		return answer.Body, nil
	}
	defer func() { _ = answer.Body.Close() }()
	said := struct{ Code, Region string }{}
	_ = xml.NewDecoder(io.LimitReader(answer.Body, maxList)).Decode(&said) // it may say no more
	return nil, refusal(answer, said.Code)
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

// escaped is a path as the signature has it: all but letters, digits and -._~/ is escaped.
func escaped(path string) string {
	var b strings.Builder
	for _, c := range []byte(path) {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~/", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
