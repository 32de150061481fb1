package prometheus_test

import (
	"context"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/question"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/question/prometheus"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// asked is one question, with a limit.
func asked() question.Asked {
	return question.Asked{Step: 2, At: time.UnixMilli(1_772_366_430_125), Questions: []question.Question{{Name: "connections", Expression: `max(x{n="a b"})`, Limit: "20"}}}
}

// serve answers every question in that way.
func serve(t *testing.T, answer http.HandlerFunc) policy.Prometheus {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return policy.Prometheus{URL: server.URL + "/prefix", Timeout: 10 * time.Second}
}

func body(status int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(text))
	}
}

func vector(series ...string) string {
	return `{"status":"success","data":{"resultType":"vector","result":[` + strings.Join(series, ",") + `]}}`
}

func series(value string) string {
	return `{"metric":{"a":"b"},"value":[1772366430.125,"` + value + `"]}`
}

func TestAnswers(t *testing.T) {
	for name, tc := range map[string]struct {
		answer         http.HandlerFunc
		value, problem string
	}{
		"a vector of one":   {body(200, vector(series("19.5"))), "19.5", ""},
		"a scalar":          {body(200, `{"status":"success","data":{"resultType":"scalar","result":[1,"3"]}}`), "3", ""},
		"a whole number":    {body(200, vector(series("2e+01"))), "20", ""},
		"many digits":       {body(200, vector(series("0.35714285714285715"))), "0.357143", ""},
		"almost nothing":    {body(200, vector(series("-1e-9"))), "0", ""},
		"a negative number": {body(200, vector(series("-4"))), "-4", ""},
		"no series":         {body(200, vector()), "", "Prometheus: it has no value of the time of the step."},
		"two series":        {body(200, vector(series("1"), series("2"))), "", "Prometheus: the answer has 2 values; the expression must have one, as by max or sum."},
		"no number":         {body(200, vector(series("NaN"))), "", "Prometheus: the answer is not a number (NaN)."},
		"without an end":    {body(200, vector(series("+Inf"))), "", "Prometheus: the answer is too large a number."},
		"a huge number":     {body(200, vector(series("1e400"))), "", "Prometheus: the answer is too large a number."},
		"a word":            {body(200, vector(series("many"))), "", "Prometheus: the answer is not one of its API."},
		"a number in JSON":  {body(200, vector(`{"value":[1,2]}`)), "", "Prometheus: the answer is not one of its API."},
		"a histogram":       {body(200, vector(`{"histogram":[1,{"count":"3"}]}`)), "", "Prometheus: the answer is a histogram; the expression must have a number."},
		"a matrix":          {body(200, `{"status":"success","data":{"resultType":"matrix","result":[]}}`), "", "Prometheus: the answer is not a number; the expression must have one value, not one for each instant."},
		"another page":      {body(200, "<html>"), "", "Prometheus: the answer is not one of its API."},
		"an error":          {body(200, `{"status":"error","error":"secret of the expression"}`), "", "Prometheus: the answer is not one of its API."},
		"a bad expression":  {body(400, `{"status":"error","error":"secret of the expression"}`), "", "Prometheus: the expression cannot be evaluated (status 400); the operator's log has the answer."},
		"not allowed":       {body(401, "secret"), "", "Prometheus: the server answered 401."},
		"another place": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://169.254.169.254/", http.StatusFound)
		}, "", "Prometheus: the server answered 302."},
		"an endless answer": {func(w http.ResponseWriter, _ *http.Request) {
			for range 1000 {
				if _, err := w.Write(make([]byte, 1<<12)); err != nil {
					return
				}
			}
		}, "", "Prometheus: the answer has more than 262144 bytes; the expression must have one value, as by max or sum."},
		"an answer that breaks off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte(vector()[:10]))
		}, "", "Prometheus: the connection ended early."},
	} {
		t.Run(name, func(t *testing.T) {
			want := []v1beta1.QueryResult{{Name: "connections", Value: tc.value, Limit: "20", Problem: tc.problem}}
			if tc.problem != "" {
				want[0].Limit = ""
			}
			got := (&prometheus.Asker{Folder: t.TempDir()}).Ask(t.Context(), serve(t, tc.answer), asked())
			if diff := cmp.Diff(want, got.Results); diff != "" || got.Step != 2 {
				t.Errorf("of step %d (-want +got):\n%s", got.Step, diff)
			}
		})
	}
}

// What is asked is what the configuration says, once, at the end of the window.
func TestWhatIsAsked(t *testing.T) {
	requests := make(chan string, 10)
	to := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests <- fmt.Sprint(r.Method, " ", r.URL.Path, " ", r.FormValue("time"), " ", r.FormValue("query"), " ", r.Header.Get("Authorization"))
		body(200, vector(series("1")))(w, r)
	})
	a := asked()
	a.Questions = append(a.Questions, question.Question{Name: "gone", Problem: "It is gone."})
	got := (&prometheus.Asker{Folder: t.TempDir()}).Ask(t.Context(), to, a)
	close(requests)
	var all []string
	for r := range requests {
		all = append(all, r)
	}
	same.As(t, "requests", []string{`POST /prefix/api/v1/query 1772366430.125 max(x{n="a b"}) `}, all)
	same.As(t, "answers", []v1beta1.QueryResult{{Name: "connections", Value: "1", Limit: "20"}, {Name: "gone", Problem: "It is gone."}}, got.Results)
}

// All questions together have the time that the configuration allows: a server that does not answer the
// first ones is asked no others.
func TestAServerThatDoesNotAnswer(t *testing.T) {
	var received atomic.Int32
	to := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		received.Add(1)
		_ = r.FormValue("query") // a server sees that its client has gone once it has read the request
		<-r.Context().Done()
	})
	to.Timeout = 200 * time.Millisecond
	a := question.Asked{}
	for i := range 13 {
		a.Questions = append(a.Questions, question.Question{Name: fmt.Sprint(i), Expression: "slow"})
	}
	got := (&prometheus.Asker{Folder: t.TempDir()}).Ask(t.Context(), to, a)
	for i, r := range got.Results {
		want := v1beta1.QueryResult{Name: a.Questions[i].Name, Problem: "Prometheus: the server did not answer in time."}
		if r != want {
			t.Errorf("%+v, want %+v", r, want)
		}
	}
	if n := received.Load(); n > 4 {
		t.Errorf("%d questions were asked, want the 4 that are asked at once", n)
	}
}

// The token is sent over TLS alone, to a server that the authorities of the folder vouch for.
func TestTokenAndCertificate(t *testing.T) {
	var seen string
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header.Get("Authorization")
		body(200, vector(series("1")))(w, r)
	}))
	t.Cleanup(secure.Close)
	secure.Config.ErrorLog = nil
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	plain := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("it was asked, with %q", r.Header.Get("Authorization"))
	})
	for name, tc := range map[string]struct {
		url     string
		files   map[string]string
		problem string
	}{
		"both":           {secure.URL, map[string]string{"token": "hunter2\n", "ca.crt": string(ca)}, ""},
		"no authority":   {secure.URL, map[string]string{"token": "hunter2"}, "Prometheus: the certificate of the server is not trusted."},
		"no TLS":         {plain.URL, map[string]string{"token": "hunter2"}, "Prometheus: the token is sent over https alone, and prometheus.url of the operator's configuration begins with http."},
		"no certificate": {secure.URL, map[string]string{"ca.crt": "hello"}, "Prometheus: the file ca.crt has no certificate."},
		"no Prometheus":  {"", nil, "Prometheus: the operator's configuration has none."},
		"a broken token": {secure.URL, map[string]string{"token": "a\x00b", "ca.crt": string(ca)}, "Prometheus: the connection failed."},
		"no server":      {"https://127.0.0.1:1", nil, "Prometheus: connection refused."},
	} {
		t.Run(name, func(t *testing.T) {
			seen = ""
			folder := t.TempDir()
			for file, content := range tc.files {
				must.Succeed(t, os.WriteFile(filepath.Join(folder, file), []byte(content), 0o600))
			}
			got := (&prometheus.Asker{Folder: folder}).Ask(t.Context(), policy.Prometheus{URL: tc.url, Timeout: 10 * time.Second}, asked()).Results[0]
			if got.Problem != tc.problem || (seen == "Bearer hunter2") != (tc.problem == "") {
				t.Errorf("%+v, and the server saw %q; want %q", got, seen, tc.problem)
			}
		})
	}
	if got := (*prometheus.Asker)(nil).Ask(context.Background(), policy.Prometheus{}, asked()).Results[0]; got.Problem != "Prometheus: the operator's configuration has none." {
		t.Errorf("%+v", got)
	}
}
