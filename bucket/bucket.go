package bucket

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// EmptySHA256 is the sum of no bytes.
const EmptySHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// maxProblem bounds what is read of the answer to a request that was refused, in bytes.
const maxProblem = 4 << 10

// Bucket is a bucket of an object store, and who asks.
type Bucket struct {
	// Endpoint is the store's URL, without the bucket.
	Endpoint, Name, Region string
	Credentials            aws.Credentials
}

// Request is a signed request about an object or, with an empty key, about the bucket. The sum of its
// body, in hexadecimal, is signed, so that a store refuses another body. It is good from now on, for
// some minutes.
func (b Bucket) Request(ctx context.Context, now time.Time, method, key string, query url.Values, body io.Reader, sum string) (*http.Request, error) {
	path := "/" + b.Name
	if key != "" {
		path += "/" + key
	}
	request, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(b.Endpoint, "/")+escaped(path), body)
	if err != nil {
		return nil, err
	}
	request.URL.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20") // as the signature has it
	request.Header.Set("X-Amz-Content-Sha256", sum)
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	err = signer.SignHTTP(ctx, b.Credentials, request, sum, "s3", b.Region, now)
	// What is stored is read as it is. Not signed: what stands before a store may change it.
	request.Header.Set("Accept-Encoding", "identity")
	return request, err
}

// ErrorCode is what the body of an answer calls the error, such as NoSuchKey; empty: nothing.
func ErrorCode(body io.Reader) string {
	said := struct{ Code string }{}
	_ = xml.NewDecoder(io.LimitReader(body, maxProblem)).Decode(&said) // it may say no more
	return said.Code
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
