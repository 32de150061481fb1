package objectstore_test

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/objectstore"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// bucket stands in for a store: it lists and serves the keys that it has, the later ones written
// later.
type bucket struct {
	keys []string
	// page is how many keys a page of its list has; before is asked first, and true if it has answered.
	page   int
	before func(w http.ResponseWriter, r *http.Request) bool
	gets   atomic.Int64
}

func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if b.before != nil && b.before(w, r) {
		return
	}
	if !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=id/") {
		http.Error(w, "<Error><Code>AccessDenied</Code></Error>", http.StatusForbidden)
		return
	}
	if key := strings.TrimPrefix(r.URL.Path, "/load-tests/"); key != r.URL.Path {
		b.gets.Add(1)
		if !slices.Contains(b.keys, key) {
			http.Error(w, "<Error><Code>NoSuchKey</Code></Error>", http.StatusNotFound)
			return
		}
		_, _ = io.WriteString(w, "content of "+key)
		return
	}
	b.list(w, r)
}

func (b *bucket) list(w http.ResponseWriter, r *http.Request) {
	type object struct {
		Key          string
		LastModified time.Time
	}
	var answer struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		Contents              []object
		IsTruncated           bool
		NextContinuationToken string `xml:",omitempty"`
	}
	token := r.URL.Query().Get("continuation-token")
	for i, key := range b.keys {
		if !strings.HasPrefix(key, r.URL.Query().Get("prefix")) || token != "" && key < token {
			continue
		}
		if b.page > 0 && len(answer.Contents) == b.page {
			answer.IsTruncated, answer.NextContinuationToken = true, key
			break
		}
		answer.Contents = append(answer.Contents, object{key, time.Unix(int64(1_700_000_000+i), 0).UTC()})
	}
	_ = xml.NewEncoder(w).Encode(answer)
}

// open starts a store, and returns what a URL names in it.
func open(t *testing.T, b *bucket, url string) *objectstore.Store {
	t.Helper()
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	store, err := objectstore.Parse(url, environment(map[string]string{"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "a secret", "AWS_ENDPOINT_URL": server.URL}))
	must.Succeed(t, err)
	return store
}

func environment(of map[string]string) func(string) string {
	return func(name string) string { return of[name] }
}

// copied are the files of a folder.
func copied(t *testing.T, folder string) (files []string) {
	t.Helper()
	must.Succeed(t, filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			path, err = filepath.Rel(folder, path)
			files = append(files, filepath.ToSlash(path))
		}
		return err
	}))
	return files
}

func silent(int, int) {}

func TestArchivesOfAStoreAreCopied(t *testing.T) {
	keys := []string{
		"cluster-a/pay/checkout/7.json.gz", "cluster-a/shop/cart/1.json.gz", "cluster-a/shop/checkout-1/2.json.gz",
		"cluster-a/shop/checkout-2/3.json.gz", "cluster-a/shop/checkout/4.json.gz", "cluster-b/shop/checkout/5.json.gz",
	}
	for name, row := range map[string]struct {
		namespace, name string
		most, left      int
		want            []string
	}{
		"of a namespace":    {namespace: "shop", want: []string{"shop/cart/1.json.gz", "shop/checkout/4.json.gz", "shop/checkout-1/2.json.gz", "shop/checkout-2/3.json.gz"}},
		"of all namespaces": {want: []string{"pay/checkout/7.json.gz", "shop/cart/1.json.gz", "shop/checkout/4.json.gz", "shop/checkout-1/2.json.gz", "shop/checkout-2/3.json.gz"}},
		"of a beginning":    {namespace: "shop", name: "checkout-", want: []string{"shop/checkout-1/2.json.gz", "shop/checkout-2/3.json.gz"}},
		"of one name":       {namespace: "shop", name: "checkout/", want: []string{"shop/checkout/4.json.gz"}},
		"the newest":        {namespace: "shop", most: 2, left: 2, want: []string{"shop/checkout/4.json.gz", "shop/checkout-2/3.json.gz"}},
	} {
		t.Run(name, func(t *testing.T) {
			for page := range 4 {
				folder := t.TempDir()
				most := row.most
				if most == 0 {
					most = 100
				}
				left, err := open(t, &bucket{keys: keys, page: page}, "s3://load-tests/cluster-a/").Copy(t.Context(), folder, row.namespace, row.name, most, silent)
				must.Succeed(t, err)
				same.As(t, "files", row.want, copied(t, folder))
				same.As(t, "left out", row.left, left)
			}
		})
	}
}

func TestCopyHasTheContentAndTheTime(t *testing.T) {
	folder := t.TempDir()
	const key = "shop/a b+ü=1/1.json.gz" // no name of Kubernetes, and still copied
	store := open(t, &bucket{keys: []string{key}}, "s3://load-tests")
	done := 0
	_, err := store.Copy(t.Context(), folder, "shop", "", 10, func(n, of int) { done = n * 10 / of })
	must.Succeed(t, err)
	file := filepath.Join(folder, filepath.FromSlash(key))
	content := must.ReadFile(t, file)
	info, err := os.Stat(file)
	must.Succeed(t, err)
	same.As(t, "content", "content of "+key, string(content))
	same.As(t, "time", int64(1_700_000_000), info.ModTime().Unix())
	same.As(t, "tenths", 10, done)
}

func TestOneArchiveIsCopied(t *testing.T) {
	store := open(t, &bucket{keys: []string{"a/shop/x/1.json.gz"}}, "s3://load-tests/a/shop/x/1.json.gz")
	file := filepath.Join(t.TempDir(), "run.json.gz")
	must.Succeed(t, store.CopyOne(t.Context(), file, store.Archive(), time.Time{}))
	content := must.ReadFile(t, file)
	same.As(t, "content", "content of a/shop/x/1.json.gz", string(content))
	if err := store.CopyOne(t.Context(), file, store.Archive(), time.Time{}); err == nil {
		t.Error("a file that is there is written over")
	}
}

// A store, or who writes to it, may try to have files written elsewhere.
func TestKeysThatLeadOutOfTheFolderAreLeftOut(t *testing.T) {
	b := &bucket{keys: []string{
		"../shop/x/1.json.gz", "/shop/x/1.json.gz", "a/../../x/1.json.gz", "shop/../1.json.gz", "shop//1.json.gz", "shop/./1.json.gz",
		"shop/x/../../1.json.gz", "shop/x/y/1.json.gz", "shop/x.json.gz", "shop/x/1.json", "shop/x/1.json.gz/", "shop/x/..json.gz",
	}}
	folder := t.TempDir()
	_, err := open(t, b, "s3://load-tests").Copy(t.Context(), filepath.Join(folder, "to"), "", "", 100, silent)
	must.Succeed(t, err)
	same.As(t, "files", []string{"to/shop/x/..json.gz"}, copied(t, folder))
}

func TestStoreThatRefusesSaysHowToMendIt(t *testing.T) {
	answer := func(status int, header, body string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			if header != "" {
				w.Header().Set("X-Amz-Bucket-Region", header)
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
			return true
		}
	}
	const page = `<ListBucketResult><Contents><Key>shop/x/%d.json.gz</Key></Contents><IsTruncated>true</IsTruncated><NextContinuationToken>%s</NextContinuationToken></ListBucketResult>`
	for want, before := range map[string]func(http.ResponseWriter, *http.Request) bool{
		`s3://load-tests: the object store answers 403 Forbidden, "AccessDenied": the credentials need s3:ListBucket`: answer(403, "", "<Error><Code>AccessDenied</Code></Error>"),
		`answers 301 Moved Permanently: the bucket is in another region: set AWS_REGION to "eu-central-1"`:            answer(301, "eu-central-1", ""),
		`answers 500 Internal Server Error`: answer(500, "", "<html>"),
		`is no list of objects`:             answer(200, "", "<html>"),
		`s3://load-tests: contains no shop/checkout*/*.json.gz: give the prefix that has one`: answer(200, "", "<ListBucketResult/>"),
		`the object store's list has no end`:                                                  answer(200, "", fmt.Sprintf(page, 1, "again")),
	} {
		_, err := open(t, &bucket{before: before}, "s3://load-tests").Copy(t.Context(), t.TempDir(), "shop", "checkout", 10, silent)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v\nwant one with %q", err, want)
		}
	}
}

func TestEndOfACommandEndsTheCopy(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := &bucket{keys: []string{"shop/x/1.json.gz"}}
	b.before = func(_ http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, ".gz") {
			return false
		}
		cancel()
		<-r.Context().Done()
		return true
	}
	store := open(t, b, "s3://load-tests")
	if _, err := store.Copy(ctx, t.TempDir(), "", "", 10, silent); err == nil {
		t.Error("a copy of nothing succeeded")
	}
}

func TestSettingsThatAreMissingAreNamed(t *testing.T) {
	keys := map[string]string{"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_CA_BUNDLE": "/no/such/file"}
	for _, row := range []struct {
		url  string
		env  map[string]string
		want string
	}{
		{"s3://", keys, "s3://: has no bucket: give s3://BUCKET/PREFIX"},
		{"s3:///prefix", keys, "has no bucket"},
		{"s3://b", nil, "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set"},
		{"s3://b", map[string]string{"AWS_ACCESS_KEY_ID": "id"}, "are not set"},
		{"s3://b", keys, "AWS_CA_BUNDLE: open /no/such/file"},
	} {
		_, err := objectstore.Parse(row.url, environment(row.env))
		must.Say(t, err, row.want)
	}
}
