package sink_test

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/sink"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// bucket stands in for a store: it has what was put, and answers as it is set.
type bucket struct {
	mu         sync.Mutex
	objects    map[string]string
	puts, gets int
	// before is asked first; true: it has answered.
	before func(w http.ResponseWriter, r *http.Request) bool
	// keeps is how much is kept of an object; 0: all.
	keeps int
}

func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if b.before != nil && b.before(w, r) {
		return
	}
	body, err := io.ReadAll(r.Body)
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case r.Header.Get("Authorization") == "" || r.Header.Get("X-Amz-Content-Sha256") == "" || err != nil:
		w.WriteHeader(http.StatusForbidden)
	case r.Method == http.MethodPut:
		b.puts++
		if b.keeps > 0 {
			body = body[:b.keeps]
		}
		b.objects[r.URL.Path] = string(body)
	default:
		b.gets++
		object, found := b.objects[r.URL.Path]
		if !found {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.WriteString(w, object)
	}
}

func newBucket(t *testing.T) (*bucket, sink.ObjectStore) {
	t.Helper()
	b := &bucket{objects: map[string]string{}}
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	return b, sink.ObjectStore{Endpoint: server.URL, Bucket: "load-tests", Region: "us-east-1", Keys: keys(t, nil), Clock: fixed}
}

func TestObjectIsWrittenOnceAndReadBack(t *testing.T) {
	b, store := newBucket(t)
	c, text := content(t)
	for range 2 {
		must.Succeed(t, store.Put(t.Context(), key, c))
	}
	if b.objects["/load-tests/"+key] != text || b.puts != 1 || b.gets != 3 {
		t.Errorf("%d objects, written %d times and read %d times; want one, 1 and 3", len(b.objects), b.puts, b.gets)
	}
	same.As(t, "location", "s3://load-tests/"+key, store.Location(key))
	// Half an object, as of a store that failed, is replaced.
	b.objects["/load-tests/"+key] = text[:1000]
	if err := store.Put(t.Context(), key, c); err != nil || b.objects["/load-tests/"+key] != text {
		t.Errorf("%v; the object has %d bytes", err, len(b.objects["/load-tests/"+key]))
	}
}

// What a store does wrong is said in words that hold nothing of its own, and no key.
func TestStoreThatFails(t *testing.T) {
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	t.Cleanup(other.Close)
	status := func(code int, body string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
			return true
		}
	}
	const late = "the server did not answer in time"
	for want, before := range map[string]func(http.ResponseWriter, *http.Request) bool{
		"the server answered 500":                       status(500, secret),
		"the server answered 403 SignatureDoesNotMatch": status(403, "<Error><Code>SignatureDoesNotMatch</Code><AWSAccessKeyId>"+secret+"</AWSAccessKeyId></Error>"),
		"the server answered 400":                       status(400, "<Error><Code>"+secret+"</Code></Error>"),
		late:                                            func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true },
		"the connection ended early":                    func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) },
		"the server answered 307, and a redirect is not followed": func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
			return true
		},
	} {
		t.Run(want, func(t *testing.T) {
			b, store := newBucket(t)
			b.before = before
			ctx := t.Context()
			if want == late { // the others answer, however busy this machine is
				limited, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
				defer cancel()
				ctx = limited
			}
			err := store.Put(ctx, key, measured(t, "results"))
			if err == nil || sink.Explain(err) != want {
				t.Errorf("error %v, explained as %q", err, sink.Explain(err))
			}
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("the error has a key: %v", err)
			}
		})
	}
	if n := elsewhere.Load(); n > 0 {
		t.Errorf("%d requests went where a redirect led", n)
	}
}

func TestStoreThatTruncatesKeepsNothing(t *testing.T) {
	b, store := newBucket(t)
	b.keeps = 3
	if err := store.Put(t.Context(), key, measured(t, "results")); err == nil || sink.Explain(err) != "the stored content differs from what was sent" {
		t.Errorf("error %v", err)
	}
}

// A content that is another when it is sent than when it was measured is not kept.
func TestContentThatChangesIsNotKept(t *testing.T) {
	_, store := newBucket(t)
	texts := []string{"results", "RESULTS of another run"}
	n := 0
	c, err := sink.Measure(t.Context(), func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, texts[min(n, 1)])
		n++
		return err
	})
	must.Succeed(t, err)
	if err := store.Put(t.Context(), key, c); err == nil {
		t.Error("it was kept")
	}
}

func TestContentThatCannotBeReadIsNotKept(t *testing.T) {
	b, store := newBucket(t)
	c := measured(t, "results")
	c.Write = func(_ context.Context, w io.Writer) error {
		_, _ = io.WriteString(w, "res")
		return errors.New("the API server is away")
	}
	if err := store.Put(t.Context(), key, c); err == nil || len(b.objects) > 0 {
		t.Errorf("error %v, %d objects", err, len(b.objects))
	}
}

// A name that leads to where clouds hand out credentials is not connected to.
func TestMetadataAddressIsRefused(t *testing.T) {
	for _, host := range []string{"169.254.169.254", "[fd00:ec2::254]", "100.100.100.200", "[::ffff:169.254.169.254]", "0.0.0.0"} {
		store := sink.ObjectStore{Endpoint: "http://" + host, Bucket: "load-tests", Keys: keys(t, nil), Clock: fixed}
		if err := store.Put(t.Context(), key, measured(t, "results")); err == nil || !strings.HasPrefix(sink.Explain(err), "the name of the server leads to a") {
			t.Errorf("%s: %v", host, err)
		}
	}
}

func TestCredentialsAreReadEachTime(t *testing.T) {
	for want, missing := range map[string]string{
		"the file accessKeyID of its credentials cannot be read, or is empty": "accessKeyID", "the file secretAccessKey of its credentials cannot be read, or is empty": "secretAccessKey",
	} {
		b, store := newBucket(t)
		c, good := measured(t, "results"), store.Keys
		store.Keys = keys(t, map[string]string{missing: ""})
		if err := store.Put(t.Context(), key, c); err == nil || sink.Explain(err) != want || b.puts+b.gets > 0 {
			t.Errorf("without %s: %v, %d requests", missing, err, b.puts+b.gets)
		}
		store.Keys = good
		if err := store.Put(t.Context(), key, c); err != nil {
			t.Error(err)
		}
	}
}

func TestAuthorityOfTheFolderIsTrusted(t *testing.T) {
	b := &bucket{objects: map[string]string{}}
	server := httptest.NewTLSServer(b)
	t.Cleanup(server.Close)
	authority := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	for ca, want := range map[string]string{"": "the certificate of the server is not trusted", "none": "the file ca.crt has no certificate", authority: ""} {
		store := sink.ObjectStore{Endpoint: server.URL, Bucket: "load-tests", Region: "us-east-1", Keys: keys(t, map[string]string{"ca.crt": ca}), Clock: fixed}
		err := store.Put(t.Context(), key, measured(t, "results"))
		if (err == nil) != (want == "") || err != nil && sink.Explain(err) != want {
			t.Errorf("%.10s: %v, want %q", fmt.Sprint(ca), err, want)
		}
	}
}
