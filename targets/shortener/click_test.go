package shortener_test

import (
	"errors"
	"regexp"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/shortener"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/memory"
	"github.com/loadtest-dev/loadtest-operator/targets/shortener/storetest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestNewClick(t *testing.T) {
	at := time.UnixMilli(0x0123456789ab)
	uuid := regexp.MustCompile(`^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for range 1000 {
		c := shortener.NewClick("code", at)
		if err := c.Validate(); err != nil {
			t.Fatalf("Validate() = %v", err)
		}
		if !uuid.MatchString(c.ID) {
			t.Fatalf("id %q is no UUID of version 7 of that time", c.ID)
		}
		if seen[c.ID] {
			t.Fatalf("id %q was given twice", c.ID)
		}
		seen[c.ID] = true
	}
	later := shortener.NewClick("code", at.Add(time.Millisecond))
	for id := range seen {
		if id >= later.ID {
			t.Fatalf("id %q of a later click is not above %q", later.ID, id)
		}
	}
}

func TestClickValidate(t *testing.T) {
	valid := shortener.Click{ID: "01234567-89ab-7def-8123-456789abcdef", Code: "code", At: storetest.Start}
	tests := map[string]struct {
		change func(*shortener.Click)
		want   string
	}{
		"valid":          {func(*shortener.Click) {}, ""},
		"no id":          {func(c *shortener.Click) { c.ID = "" }, `id "" of a click is no UUID in lower case`},
		"upper case":     {func(c *shortener.Click) { c.ID = "01234567-89AB-7def-8123-456789abcdef" }, `id "01234567-89AB-7def-8123-456789abcdef" of a click is no UUID in lower case`},
		"other dashes":   {func(c *shortener.Click) { c.ID = "0123456-789ab-7def-8123-456789abcdef" }, `id "0123456-789ab-7def-8123-456789abcdef" of a click is no UUID in lower case`},
		"no code":        {func(c *shortener.Click) { c.Code = "" }, `code "" of a click is none`},
		"a page as code": {func(c *shortener.Click) { c.Code = "urls" }, `code "urls" of a click is none`},
		"no time":        {func(c *shortener.Click) { c.At = time.Time{} }, "a click has no time"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c, got := valid, ""
			tt.change(&c)
			if err := c.Validate(); err != nil {
				got = err.Error()
			}
			same.As(t, "error", tt.want, got)
		})
	}
}

func TestSynchronousFailsWithTheStore(t *testing.T) {
	store, counts := memory.New(storetest.NewClock().Now), counter{}
	clicks := shortener.Synchronous{Store: store, Count: counts.count}
	must.Succeed(t, store.Create(t.Context(), shortener.Link{Code: "code", ExpiresAt: storetest.Start.Add(time.Hour)}))
	must.Report(t, "Clicked()", clicks.Clicked(t.Context(), shortener.NewClick("code", storetest.Start)))
	gone := errors.New("gone")
	store.SetFailure(gone)
	if err := clicks.Clicked(t.Context(), shortener.NewClick("code", storetest.Start)); !errors.Is(err, gone) {
		t.Errorf("Clicked() without a store = %v, want %v", err, gone)
	}
	same.As(t, "counted", counter{shortener.ClickStored: 1}, counts)
}
