package sink_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/sink"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

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
