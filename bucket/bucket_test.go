package bucket_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/loadtest-dev/loadtest-operator/bucket"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// The example of Amazon's documentation, "GET Bucket (List Objects)":
// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html.
func TestRequestIsSignedAsTheDocumentationHasIt(t *testing.T) {
	b := bucket.Bucket{Endpoint: "https://examplebucket.s3.amazonaws.com", Region: "us-east-1", Credentials: aws.Credentials{
		AccessKeyID: "AKIAIOSFODNN7EXAMPLE", SecretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", // of the documentation
	}}
	now := time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC)
	request, err := b.Request(t.Context(), now, http.MethodGet, "", url.Values{"max-keys": {"2"}, "prefix": {"J"}}, nil, bucket.EmptySHA256)
	must.Succeed(t, err)
	const want = "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
	if got := request.Header.Get("Authorization"); !strings.HasSuffix(got, "Signature="+want) {
		t.Errorf("Authorization: %s, want the signature %s", got, want)
	}
}

func TestKeysAreEscaped(t *testing.T) {
	b := bucket.Bucket{Endpoint: "http://store/", Name: "load-tests", Region: "a"}
	request, err := b.Request(t.Context(), time.Now(), http.MethodGet, "shop/a b+ü=%2F?x/1.json.gz", url.Values{"prefix": {"a b"}}, nil, bucket.EmptySHA256)
	must.Succeed(t, err)
	same.As(t, "URL", "http://store/load-tests/shop/a%20b%2B%C3%BC%3D%252F%3Fx/1.json.gz?prefix=a%20b", request.URL.String())
}

func TestErrorCodeOfWhatIsNoError(t *testing.T) {
	for body, want := range map[string]string{"<Error><Code>NoSuchKey</Code></Error>": "NoSuchKey", "<html>": "", "": "", strings.Repeat("<a>", 1<<20): ""} {
		same.As(t, "code", want, bucket.ErrorCode(strings.NewReader(body)))
	}
}
