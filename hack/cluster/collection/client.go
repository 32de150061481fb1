package collection

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
)

// patience bounds a request, watchTime a watch.
const (
	patience  = 10 * time.Second
	watchTime = 5 * time.Minute
)

// Client calls the API server.
type Client struct {
	// Server is its URL.
	Server string
	HTTP   *http.Client
}

// NewClient is a client whose TLS says who it is, and who the server has to be.
func NewClient(server string, identity *tls.Config) Client {
	transport := &http.Transport{TLSClientConfig: identity, ForceAttemptHTTP2: true, Proxy: nil}
	return Client{Server: server, HTTP: &http.Client{Transport: transport}}
}

// List is one look at a collection, and the version of what was seen.
type List[T any] struct {
	Metadata struct {
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Items []T `json:"items"`
}

// Version is what Change is to compare with.
func (l List[T]) Version() string { return l.Metadata.ResourceVersion }

// Get looks at the collection with that path.
func Get[T any](ctx context.Context, c Client, path string) (l List[T], err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	content, err := c.call(ctx, http.MethodGet, path, nil)
	if err != nil {
		return l, err
	}
	if err := json.Unmarshal(content, &l); err != nil {
		return l, fmt.Errorf("decode %s: %w", path, err)
	}
	return l, nil
}

// Create is content if the object is there.
func (c Client) Create(ctx context.Context, path string, object any) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	body, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("encode for %s: %w", path, err)
	}
	_, err = c.call(ctx, http.MethodPost, path, body, http.StatusConflict)
	return err
}

// Remove is content if the object is gone.
func (c Client) Remove(ctx context.Context, path, name string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err := c.call(ctx, http.MethodDelete, path+"/"+url.PathEscape(name), nil, http.StatusNotFound)
	return err
}

// call returns the answer's body; the statuses in fine are no errors.
func (c Client) call(ctx context.Context, method, path string, body []byte, fine ...int) ([]byte, error) {
	response, err := c.open(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if response.StatusCode < 300 || slices.Contains(fine, response.StatusCode) {
		return content, nil
	}
	return nil, fmt.Errorf("%s %s: %s: %.200s", method, path, response.Status, content)
}

func (c Client) open(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.Server+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	return c.HTTP.Do(request)
}

// Change returns when anything in one of the collections, by path, is no longer
// as in the version given for it, or may not be.
func (c Client) Change(ctx context.Context, versions map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, watchTime+patience)
	defer cancel()
	var watches sync.WaitGroup
	failures := make(chan error, len(versions))
	for path, version := range versions {
		watches.Go(func() {
			failures <- c.watch(ctx, path, version)
			cancel() // the others need not wait any longer
		})
	}
	watches.Wait()
	// The first result: the others were merely cancelled.
	return <-failures
}

// watch returns at the first event, whatever it says: who called it looks at
// everything again. The server ends a watch now and then, and refuses a version
// that is too old; both mean just that, too.
func (c Client) watch(ctx context.Context, path, version string) error {
	query := fmt.Sprintf("?watch=true&resourceVersion=%s&timeoutSeconds=%d", url.QueryEscape(version), int(watchTime.Seconds()))
	response, err := c.open(ctx, http.MethodGet, path+query, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusGone {
		return fmt.Errorf("watch %s: %s", path, response.Status)
	}
	if _, err := response.Body.Read(make([]byte, 1)); err != nil && err != io.EOF {
		return fmt.Errorf("watch %s: %w", path, err)
	}
	return nil
}
