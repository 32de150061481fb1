package provisioner

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// The two collections of the API that matter here.
const (
	claimsPath  = "/api/v1/persistentvolumeclaims"
	volumesPath = "/api/v1/persistentvolumes"
)

// patience bounds a request, watchTime a watch.
const (
	patience  = 10 * time.Second
	watchTime = 5 * time.Minute
)

// api calls the API server at a URL.
type api struct {
	server string
	client *http.Client
}

// list is one look at a collection, and the version of what was seen.
type list[T any] struct {
	Metadata struct {
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Items []T `json:"items"`
}

func get[T any](ctx context.Context, a api, path string) (l list[T], err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	content, err := a.call(ctx, http.MethodGet, path, nil)
	if err != nil {
		return l, err
	}
	if err := json.Unmarshal(content, &l); err != nil {
		return l, fmt.Errorf("decode %s: %w", path, err)
	}
	return l, nil
}

// create is content if the volume is there.
func (a api) create(ctx context.Context, v volume) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode volume %s: %w", v.Metadata.Name, err)
	}
	_, err = a.call(ctx, http.MethodPost, volumesPath, body, http.StatusConflict)
	return err
}

// remove is content if the volume is gone.
func (a api) remove(ctx context.Context, v volume) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err := a.call(ctx, http.MethodDelete, volumesPath+"/"+url.PathEscape(v.Metadata.Name), nil, http.StatusNotFound)
	return err
}

// call returns the answer's body; the statuses in fine are no errors.
func (a api) call(ctx context.Context, method, path string, body []byte, fine ...int) ([]byte, error) {
	response, err := a.open(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if response.StatusCode < 300 {
		return content, nil
	}
	for _, status := range fine {
		if response.StatusCode == status {
			return content, nil
		}
	}
	return nil, fmt.Errorf("%s %s: %s: %.200s", method, path, response.Status, content)
}

func (a api) open(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, a.server+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	return a.client.Do(request)
}

// change returns when anything in one of the collections, by path, is no longer
// as in the version given for it, or may not be.
func (a api) change(ctx context.Context, versions map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, watchTime+patience)
	defer cancel()
	var watches sync.WaitGroup
	failures := make(chan error, len(versions))
	for path, version := range versions {
		watches.Go(func() {
			failures <- a.watch(ctx, path, version)
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
func (a api) watch(ctx context.Context, path, version string) error {
	query := fmt.Sprintf("?watch=true&resourceVersion=%s&timeoutSeconds=%d", url.QueryEscape(version), int(watchTime.Seconds()))
	response, err := a.open(ctx, http.MethodGet, path+query, nil)
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
