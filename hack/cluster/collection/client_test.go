package collection

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const path = "/api/v1/things"

// answering is a client of a server that gives one answer to everything, and
// the requests that it got.
func answering(t *testing.T, status int, body string) (Client, *[]string) {
	t.Helper()
	var requests []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests = append(requests, r.Method+" "+r.URL.EscapedPath())
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body)) // the client shows it
	}))
	t.Cleanup(s.Close)
	return Client{Server: s.URL, HTTP: s.Client()}, &requests
}

func TestGetReturnsItemsAndTheirVersion(t *testing.T) {
	c, _ := answering(t, http.StatusOK, `{"metadata":{"resourceVersion":"7"},"items":[{"name":"a"},{"name":"b"}]}`)
	type thing struct{ Name string }
	l, err := Get[thing](t.Context(), c, path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]thing{{"a"}, {"b"}}, l.Items); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
	if l.Version() != "7" {
		t.Errorf("version is %q, want 7", l.Version())
	}
}

func TestGetNamesWhatItCannotRead(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		body   string
		want   string
	}{
		"refused":    {http.StatusForbidden, "not yours", "GET " + path + ": 403 Forbidden: not yours"},
		"not a list": {http.StatusOK, "[]", "decode " + path},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := answering(t, test.status, test.body)
			if _, err := Get[string](t.Context(), c, path); err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("error is %v, want %q", err, test.want)
			}
		})
	}
}

// An answer that shows that somebody has done it already is as good as a
// success.
func TestWhatIsDoneAlreadyIsNoFailure(t *testing.T) {
	create := func(ctx context.Context, c Client) error { return c.Create(ctx, path, "object") }
	remove := func(ctx context.Context, c Client) error { return c.Remove(ctx, path, "a/b") }
	for name, test := range map[string]struct {
		do      func(context.Context, Client) error
		status  int
		fine    bool
		request string
	}{
		"create":                {create, http.StatusCreated, true, "POST " + path},
		"create what is there":  {create, http.StatusConflict, true, "POST " + path},
		"create and fail":       {create, http.StatusNotFound, false, "POST " + path},
		"remove":                {remove, http.StatusOK, true, "DELETE " + path + "/a%2Fb"},
		"remove what is gone":   {remove, http.StatusNotFound, true, "DELETE " + path + "/a%2Fb"},
		"remove and be refused": {remove, http.StatusConflict, false, "DELETE " + path + "/a%2Fb"},
	} {
		t.Run(name, func(t *testing.T) {
			c, requests := answering(t, test.status, "")
			if err := test.do(t.Context(), c); (err == nil) != test.fine {
				t.Errorf("error is %v, want none: %t", err, test.fine)
			}
			if diff := cmp.Diff([]string{test.request}, *requests); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCreateNamesWhatCannotBeEncoded(t *testing.T) {
	err := Client{}.Create(t.Context(), path, func() {})
	if err == nil || !strings.HasPrefix(err.Error(), "encode for "+path) {
		t.Errorf("error is %v", err)
	}
}

func TestChangeReturnsAtTheFirstEvent(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		body   string
		want   string
	}{
		"an event":                 {http.StatusOK, "{}\n", ""},
		"the server ends it":       {http.StatusOK, "", ""},
		"the version is too old":   {http.StatusGone, "", ""},
		"the server does not work": {http.StatusInternalServerError, "", "500 Internal Server Error"},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := answering(t, test.status, test.body)
			err := c.Change(t.Context(), map[string]string{path: "1"})
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error is %v, want %q", err, test.want)
			}
		})
	}
}

// The one that changes ends the wait for those that do not.
func TestChangeOfOneIsEnough(t *testing.T) {
	var queries []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/changes" {
			queries = append(queries, r.URL.Query().Get("resourceVersion"))
			return
		}
		<-r.Context().Done()
	}))
	defer s.Close()
	c := Client{Server: s.URL, HTTP: s.Client()}
	if err := c.Change(t.Context(), map[string]string{"/changes": "7", "/stays": "8"}); err != nil {
		t.Errorf("error is %v", err)
	}
	if diff := cmp.Diff([]string{"7"}, queries); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
}

func TestRepeatGoesOnAfterAFailure(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var passes int
	var said []string
	Repeat(ctx, func(context.Context) error {
		if passes++; passes == 1 {
			return errors.New("not now")
		}
		stop()
		return errors.New("cancelled")
	}, func(_ string, args ...any) { said = append(said, args[0].(error).Error()) })
	if diff := cmp.Diff([]string{"not now"}, said); diff != "" || passes != 2 {
		t.Errorf("%d passes, said (-want +got):\n%s", passes, diff)
	}
}
