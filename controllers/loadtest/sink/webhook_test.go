package sink_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/sink"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

const message = `{"verdict":"Failed"}`

// A receiver can verify the message by the key, whichever way it is written.
func TestMessageIsSigned(t *testing.T) {
	raw := "0123456789abcdef"
	for name, file := range map[string]string{"plain": raw + "\n", "base64": "whsec_" + base64.StdEncoding.EncodeToString([]byte(raw))} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				body, _ := io.ReadAll(r.Body)
				h := hmac.New(sha256.New, []byte(raw))
				_, _ = io.WriteString(h, r.Header.Get("webhook-id")+"."+r.Header.Get("webhook-timestamp")+"."+string(body))
				if r.Method != http.MethodPost || string(body) != message || r.Header.Get("webhook-id") != "uid-1" || r.Header.Get("webhook-timestamp") != "1795399200" ||
					r.Header.Get("webhook-signature") != "v1,"+base64.StdEncoding.EncodeToString(h.Sum(nil)) {
					t.Errorf("%s %q with %v", r.Method, body, r.Header)
				}
				w.WriteHeader(http.StatusAccepted)
			}))
			t.Cleanup(server.Close)
			hook := sink.Webhook{URL: server.URL + "/hooks?of=loadtest", Keys: keys(t, map[string]string{"webhookKey": file}), Clock: fixed}
			if err := hook.Send(t.Context(), "uid-1", []byte(message)); err != nil || asked != 1 {
				t.Errorf("error %v after %d requests", err, asked)
			}
		})
	}
}

func TestMessageIsNotSentElsewhere(t *testing.T) {
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	t.Cleanup(other.Close)
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusPermanentRedirect))
	t.Cleanup(server.Close)
	hook := sink.Webhook{URL: server.URL, Keys: keys(t, nil), Clock: fixed}
	if err := hook.Send(t.Context(), "uid-1", []byte(message)); err == nil || elsewhere > 0 || sink.Explain(err) != "the server answered 308, and a redirect is not followed" {
		t.Errorf("error %v, %d requests elsewhere", err, elsewhere)
	}
	hook.URL = "http://169.254.169.254/"
	if err := hook.Send(t.Context(), "uid-1", []byte(message)); err == nil || !strings.Contains(err.Error(), "leads to a link-local address") {
		t.Errorf("error %v", err)
	}
}

func TestMessageWithoutAGoodKeyIsNotSent(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was sent") }))
	t.Cleanup(server.Close)
	for file, want := range map[string]string{
		"": "the file webhookKey cannot be read", "too short": "the key in the file webhookKey is shorter than 16 bytes",
		"whsec_MTIzNDU2Nzg=": "the key in the file webhookKey is shorter than 16 bytes", "whsec_!": "the file webhookKey has no base64 after whsec_",
	} {
		hook := sink.Webhook{URL: server.URL, Keys: keys(t, map[string]string{"webhookKey": file}), Clock: fixed}
		if err := hook.Send(t.Context(), "uid-1", []byte(message)); err == nil || sink.Explain(err) != want {
			t.Errorf("%q: %v, want %q", file, err, want)
		}
	}
}

var fixed = clocktesting.NewFakePassiveClock(time.Date(2026, 11, 23, 2, 0, 0, 0, time.UTC))

const key = "cluster-a/team-a/checkout/11111111-2222.json.gz"

// content is one of some megabytes, more than any buffer on the way holds.
func content(t *testing.T) (sink.Content, string) {
	t.Helper()
	text := strings.Repeat("0123456789abcdef", 200_000)
	return measured(t, text), text
}

func measured(t *testing.T, text string) sink.Content {
	t.Helper()
	c, err := sink.Measure(t.Context(), func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
	if err != nil || c.Size != int64(len(text)) {
		t.Fatalf("%d bytes, %v", c.Size, err)
	}
	return c
}

// secret is in every file with a key.
const secret = "hunter2-hunter2-hunter2"

// keys is a folder with all keys.
func keys(t *testing.T, more map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	files := map[string]string{"accessKeyID": secret + "-id\n", "secretAccessKey": secret, "webhookKey": secret}
	for name, text := range more {
		files[name] = text
	}
	for name, text := range files {
		if text == "" {
			continue
		}
		must.Succeed(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	return folder
}
