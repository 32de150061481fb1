package redis

import (
	"strings"
	"testing"
	"testing/quick"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestEntryRoundTrip(t *testing.T) {
	roundTrip := func(code, url string, created, expires int64) bool {
		// Microseconds of some 290,000 years around 1970.
		want := shortener.Link{
			Code: code, URL: url,
			CreatedAt: time.UnixMicro(created / 1000).UTC(), ExpiresAt: time.UnixMicro(expires / 1000).UTC(),
		}
		got, ok := decodeEntry(code, string(encodeEntry(want)))
		return ok && cmp.Diff(want, got) == ""
	}
	must.Report(t, "Check", quick.Check(roundTrip, nil))
}

func TestEntryForm(t *testing.T) {
	got := string(encodeEntry(shortener.Link{
		Code: "abc", URL: "https://example.com/", CreatedAt: time.UnixMicro(1), ExpiresAt: time.UnixMicro(0x0102),
	}))
	want := "+\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01\x02https://example.com/"
	same.As(t, "entry", want, got)
}

func TestUnreadableEntries(t *testing.T) {
	for name, entry := range map[string]string{
		"empty":                "",
		"negative":             negative,
		"cut off":              "+" + strings.Repeat("\x00", 15),
		"of another version":   "*" + strings.Repeat("\x00", 16) + "https://example.com/",
		"as the seed wrote it": `{"url":"https://example.com/"}`,
	} {
		t.Run(name, func(t *testing.T) {
			if link, ok := decodeEntry("abc", entry); ok {
				t.Errorf("read as %+v", link)
			}
		})
	}
}
