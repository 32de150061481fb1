package sink

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/utils/clock"
)

// minKey is the least number of bytes of a key: an HMAC of less can be found by trying.
const minKey = 16

// Webhook is a URL that verdicts are sent to, by the conventions of Standard Webhooks.
type Webhook struct {
	URL string
	// Keys is the folder with the file webhookKey, and perhaps webhook-ca.crt.
	Keys  string
	Clock clock.PassiveClock
}

// Send posts a message. One that is sent again has the same id, by which a receiver finds
// it.
func (w Webhook) Send(ctx context.Context, id string, message []byte) error {
	key, err := w.key()
	if err != nil {
		return err
	}
	return Connected(filepath.Join(w.Keys, "webhook-ca.crt"), func(client *http.Client) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(message))
		if err != nil {
			return err
		}
		at := fmt.Sprint(w.Clock.Now().Unix())
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Webhook-Id", id)
		request.Header.Set("Webhook-Timestamp", at)
		request.Header.Set("Webhook-Signature", signature(key, id, at, message))
		answer, err := client.Do(request)
		if err != nil {
			return err
		}
		return failure(answer)
	})
}

// signature is over the id and the time, too: an old message is none that is new.
func signature(key []byte, id, at string, message []byte) string {
	h := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(h, "%s.%s.%s", id, at, message)
	return "v1," + base64.StdEncoding.EncodeToString(h.Sum(nil))
}

// key is what the file has: after whsec_ in base64, else as it is.
func (w Webhook) key() ([]byte, error) {
	content, err := os.ReadFile(filepath.Join(w.Keys, "webhookKey"))
	if err != nil {
		return nil, Problem("the file webhookKey cannot be read")
	}
	key := bytes.TrimSpace(content)
	if encoded, ok := strings.CutPrefix(string(key), "whsec_"); ok {
		if key, err = base64.StdEncoding.DecodeString(encoded); err != nil {
			return nil, Problem("the file webhookKey has no base64 after whsec_")
		}
	}
	if len(key) < minKey {
		return nil, Problem(fmt.Sprintf("the key in the file webhookKey is shorter than %d bytes", minKey))
	}
	return key, nil
}
