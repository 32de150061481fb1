package assemble

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/workertest"
)

// checkSignature checks a request as the documents of AWS have it (Signature Version 4), without
// the SDK, with which workers sign.
func checkSignature(r *http.Request, body []byte, secret string) error {
	fields := map[string]string{}
	algorithm, rest, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	for _, f := range strings.Split(rest, ", ") {
		name, value, _ := strings.Cut(f, "=")
		fields[name] = value
	}
	scope := strings.Split(fields["Credential"], "/")
	if algorithm != "AWS4-HMAC-SHA256" || len(scope) != 5 || scope[4] != "aws4_request" {
		return fmt.Errorf("there is no signature in %q", r.Header.Get("Authorization"))
	}
	path, _, _ := strings.Cut(strings.TrimPrefix(r.RequestURI, "http://"+r.Host), "?") // as net/http sends a path of two slashes
	if scope[3] != "s3" {
		path = encoded(path, "/")
	}
	headers := ""
	for _, name := range strings.Split(fields["SignedHeaders"], ";") {
		value := strings.Join(r.Header.Values(name), ",")
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = fmt.Sprint(r.ContentLength)
		}
		headers += name + ":" + strings.Join(strings.Fields(value), " ") + "\n"
	}
	request := strings.Join([]string{r.Method, path, query(r.URL.RawQuery), headers, fields["SignedHeaders"], sum(string(body))}, "\n")
	key := []byte("AWS4" + secret)
	for _, part := range scope[1:] {
		key = mac(key, part)
	}
	text := strings.Join([]string{algorithm, r.Header.Get("X-Amz-Date"), strings.Join(scope[1:], "/"), sum(request)}, "\n")
	if got := fields["Signature"]; got != hex.EncodeToString(mac(key, text)) {
		return fmt.Errorf("the signature is not one of\n%s", request)
	}
	return nil
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

// encoded has all but unreserved characters, and those that are kept, percent-encoded.
func encoded(text, kept string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~"+kept, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func query(raw string) string {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return err.Error()
	}
	var list []string
	for name, all := range values {
		for _, value := range all {
			list = append(list, encoded(name, "")+"="+encoded(value, ""))
		}
	}
	slices.Sort(list)
	return strings.Join(list, "&")
}

// The check itself accepts the example of AWS ("get-vanilla-query-order-key-case"), and no other.
func TestSignaturesAreChecked(t *testing.T) {
	r := httptest.NewRequest("GET", "/?Param2=value2&Param1=value1", nil)
	r.Host = "example.amazonaws.com"
	r.Header.Set("X-Amz-Date", "20150830T123600Z")
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500")
	const key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
	must.Succeed(t, checkSignature(r, nil, key))
	if checkSignature(r, []byte("x"), key) == nil || checkSignature(r, nil, key+"x") == nil {
		t.Error("it accepts another body or key")
	}
}

// signed is a target that takes requests with a signature.
type signed struct {
	mu    sync.Mutex
	wrong []string
	paths map[string]int
}

func (s *signed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	wrong := errors.Join(err, checkSignature(r, body, canary))
	s.mu.Lock()
	defer s.mu.Unlock()
	if wrong != nil {
		s.wrong = append(s.wrong, wrong.Error())
		w.WriteHeader(http.StatusForbidden)
		return
	}
	s.paths[r.Method+" "+r.URL.Path]++
	if r.URL.Path == "/moved" {
		http.Redirect(w, r, "/a b?x=1", http.StatusFound)
	}
}

func bySignature(t *testing.T, service string) *workerv1.Login {
	return &workerv1.Login{Name: "shop", Aws: &workerv1.AWS{
		AccessKeyIdFile: file(t, "AKIDEXAMPLE\n"), SecretAccessKeyFile: file(t, canary+"\n"), SessionTokenFile: file(t, "session\n"),
		Region: "eu-central-1", Service: service,
	}}
}

// Whatever is sent, and however, the target finds it as it was signed.
func TestRequestsAreSigned(t *testing.T) {
	login := []*workerv1.Header{{Name: "X-Two", Value: " a   b "}, {Name: "Authorization", ValueFile: "/nowhere", Login: 1}}
	for _, service := range []string{"execute-api", "s3"} {
		for name, change := range map[string]func(*workerv1.Assignment){
			"event loops": func(*workerv1.Assignment) {},
			"goroutines":  func(a *workerv1.Assignment) { a.OtherTargets = []*workerv1.Target{a.Target} },
			"HTTP/2":      func(a *workerv1.Assignment) { a.Target.Protocol = workerv1.Protocol_PROTOCOL_HTTP2 },
			"vegeta": func(a *workerv1.Assignment) {
				a.Driver, a.Steps[0] = workerv1.Driver_DRIVER_VEGETA, rated(400)
				a.Requests = slices.DeleteFunc(a.Requests, func(r *workerv1.Request) bool { return r.FollowRedirects > 0 })
			},
		} {
			t.Run(service+" by "+name, func(t *testing.T) {
				target := &signed{paths: map[string]int{}}
				shop := workertest.Serve(t, target.ServeHTTP, func(s *httptest.Server) {
					s.Config.Protocols = &http.Protocols{}
					s.Config.Protocols.SetHTTP1(true)
					s.Config.Protocols.SetUnencryptedHTTP2(true)
					s.Start()
				})
				a := workertest.Assignment(shop.URL, workertest.Burst(0, 2, 12))
				a.Logins = []*workerv1.Login{bySignature(t, service)}
				a.Requests = []*workerv1.Request{
					{Name: "get", Method: "GET", Path: "/a%20b/é/${seq}?z=1&a=%C3%A9+b&a=${user}&empty"},
					{Name: "post", Method: "POST", Path: "//x/../y", Body: []byte(`{"n": ${seq}}`)},
					{Name: "form", Method: "POST", Path: "/form", Form: []*workerv1.FormField{{Name: "a", Value: "b c"}}},
					{Name: "moved", Method: "GET", Path: "/moved", FollowRedirects: 1},
				}
				for _, r := range a.Requests {
					r.Weight, r.Headers = 1, login
				}
				a.Preflight = a.Requests[:1]
				change(a)
				m := run(t, prepared(t, a, testConfig(), ignore))
				q, err := m.Total()
				must.Succeed(t, err)
				if len(target.wrong) > 0 || q.Expected != q.Sent || q.Sent == 0 {
					t.Errorf("%d of %d requests were expected, %v; %d were wrong: %v", q.Expected, q.Sent, errorsOf(m), len(target.wrong), target.wrong)
				}
				if text := fmt.Sprint(m); strings.Contains(text, canary) {
					t.Errorf("the key is in %s", text)
				}
			})
		}
	}
}

// A request that cannot be signed is sent, and the error of its refusal says so; one with a header of
// its own is not signed.
func TestRequestsWithoutASignature(t *testing.T) {
	target := &signed{paths: map[string]int{}}
	a := workertest.Assignment(workertest.NewTarget(t, target.ServeHTTP).URL, workertest.Burst(0, 1, 2))
	a.Logins = []*workerv1.Login{bySignature(t, "s3")}
	a.Requests[0].Path, a.Requests[0].Headers = "/?a;b=1", []*workerv1.Header{{Name: "Authorization", Login: 1}}
	m := run(t, prepared(t, a, testConfig(), ignore))
	if got := fmt.Sprint(errorsOf(m)); len(target.wrong) != 2 || !strings.Contains(got, "status 403 Forbidden; login \"shop\": some are sent without a signature, as their path or query is no URL") {
		t.Errorf("%d were refused: %s", len(target.wrong), got)
	}
}
