package check

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Shortener is the subcommand of the URL shortener, with the arguments after
// its name.
func Shortener(ctx context.Context, args []string, getenv func(string) string, out io.Writer) error {
	return run(ctx, "shortener", "shortens a URL and follows it", shortener, args, getenv, out)
}

// EventStore is the subcommand of the event store; the API key is in API_KEY.
func EventStore(ctx context.Context, args []string, getenv func(string) string, out io.Writer) error {
	return run(ctx, "eventstore", "appends an event and reads it, with the key in API_KEY", eventStore, args, getenv, out)
}

// RateLimiter is the subcommand of the rate limiter.
func RateLimiter(ctx context.Context, args []string, getenv func(string) string, out io.Writer) error {
	return run(ctx, "ratelimiter", "takes one token of a client that no other request uses", rateLimiter, args, getenv, out)
}

// Tokens is the subcommand of the stand-in for a server of a language model.
func Tokens(ctx context.Context, args []string, getenv func(string) string, out io.Writer) error {
	return run(ctx, "tokens", "asks for three tokens, as a stream", streamed, args, getenv, out)
}

func shortener(ctx context.Context, c caller, _ []byte) error {
	type link struct {
		Code string `json:"code"`
		URL  string `json:"url"`
	}
	long := "https://example.com/check/" + rand.Text()
	created, err := c.call(ctx, call{
		method: http.MethodPost, path: "/urls", body: map[string]string{"url": long}, want: []int{http.StatusCreated},
	})
	if err != nil {
		return err
	}
	var made, stored link
	if err := created.decode(&made); err != nil {
		return err
	}
	if made.Code == "" {
		return fmt.Errorf("POST /urls: no code in %s", created.body)
	}
	path := "/" + url.PathEscape(made.Code)
	redirect, err := c.call(ctx, call{path: path, want: []int{http.StatusFound, http.StatusMovedPermanently}})
	if err != nil {
		return err
	}
	if got := redirect.header.Get("Location"); got != long {
		return fmt.Errorf("GET %s: leads to %q, want %q", path, got, long)
	}
	details, err := c.call(ctx, call{path: "/urls" + path})
	if err != nil {
		return err
	}
	if err := details.decode(&stored); err != nil {
		return err
	}
	if want := (link{Code: made.Code, URL: long}); stored != want {
		return fmt.Errorf("GET /urls%s: link is %+v, want %+v", path, stored, want)
	}
	return nil
}

func eventStore(ctx context.Context, c caller, _ []byte) error {
	type event struct {
		Position  int64             `json:"position,omitempty"`
		Type      string            `json:"type"`
		Data      map[string]string `json:"data"`
		Timestamp time.Time         `json:"timestamp"`
	}
	mine := event{Type: "check", Data: map[string]string{"nonce": rand.Text()}, Timestamp: time.Now().UTC()}
	appended, err := c.call(ctx, call{
		method: http.MethodPost, path: "/events", body: mine,
		headers: map[string]string{"Idempotency-Key": mine.Data["nonce"]},
		want:    []int{http.StatusOK, http.StatusCreated},
	})
	if err != nil {
		return err
	}
	var stored event
	if err := appended.decode(&stored); err != nil {
		return err
	}
	if stored.Position < 1 {
		return fmt.Errorf("POST /events: position %d, want 1 or more", stored.Position)
	}
	path := fmt.Sprintf("/events?from=%[1]d&to=%[1]d", stored.Position)
	read, err := c.call(ctx, call{path: path})
	if err != nil {
		return err
	}
	var events []event
	if err := read.decode(&events); err != nil {
		return err
	}
	if len(events) != 1 || events[0].Position != stored.Position || events[0].Data["nonce"] != mine.Data["nonce"] {
		return fmt.Errorf("GET %s: %+v, want the event that was appended: %+v", path, events, mine)
	}
	return nil
}

func rateLimiter(ctx context.Context, c caller, about []byte) error {
	var contract struct {
		Capacity int64 `json:"capacity"`
	}
	if err := (answer{body: about}).decode(&contract); err != nil {
		return err
	}
	// A refusal is an answer too: without trust in proxies all of a proxy's
	// clients are one.
	got, err := c.call(ctx, call{
		path: "/api", headers: map[string]string{"X-Forwarded-For": newClient().String()},
		want: []int{http.StatusOK, http.StatusTooManyRequests},
	})
	if err != nil {
		return err
	}
	if limit := got.header.Get("X-RateLimit-Limit"); limit != strconv.FormatInt(contract.Capacity, 10) {
		return fmt.Errorf("GET /api: X-RateLimit-Limit is %q, want the capacity of /version: %d", limit, contract.Capacity)
	}
	remaining, err := strconv.ParseInt(got.header.Get("X-RateLimit-Remaining"), 10, 64)
	if err != nil || remaining < 0 || remaining >= contract.Capacity {
		return fmt.Errorf("GET /api: X-RateLimit-Remaining is %q, want 0 to %d, since a token was taken",
			got.header.Get("X-RateLimit-Remaining"), contract.Capacity-1)
	}
	return nil
}

func streamed(ctx context.Context, c caller, _ []byte) error {
	const path, asked = "/v1/completions", 3
	// A refusal is an answer too: others may have all places.
	got, err := c.call(ctx, call{
		method: http.MethodPost, path: path, body: map[string]any{"prompt": "check", "max_tokens": asked, "stream": true},
		want: []int{http.StatusOK, http.StatusTooManyRequests},
	})
	if err != nil || got.status == http.StatusTooManyRequests {
		return err
	}
	body := string(got.body)
	if events := strings.Count(body, "data: {"); events != asked || !strings.HasSuffix(body, "data: [DONE]\n\n") {
		return fmt.Errorf("POST %s: %d events in %q, want %d and the last, [DONE]", path, events, body[:min(len(body), shown)], asked)
	}
	return nil
}

// newClient is a random address of the network for documentation, so that the check
// takes no token from the bucket of a real client.
func newClient() netip.Addr {
	address := netip.MustParseAddr("2001:db8::").As16()
	_, _ = rand.Read(address[4:]) // never fails
	return netip.AddrFrom16(address)
}
