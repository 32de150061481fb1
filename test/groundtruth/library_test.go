package groundtruth

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/net/http2"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// over runs a test over each protocol that net/http serves, with a client of it.
func over(t *testing.T, c Config, test func(t *testing.T, s *Server, client *http.Client)) {
	t.Helper()
	for name, tt := range map[string]struct {
		protocol Protocol
		version  uint16
	}{
		"TLS 1.2": {TLS, tls.VersionTLS12}, "TLS 1.3": {TLS, tls.VersionTLS13},
		"HTTP/2": {HTTP2, tls.VersionTLS13}, "HTTP/2 by prior knowledge": {H2C, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := c
			c.Protocol = tt.protocol
			s := start(t, c)
			transport := &http.Transport{Protocols: &http.Protocols{}, TLSClientConfig: &tls.Config{RootCAs: s.authorities(t), MaxVersion: tt.version}}
			transport.Protocols.SetHTTP1(tt.protocol == TLS)
			transport.Protocols.SetHTTP2(tt.protocol == HTTP2)
			transport.Protocols.SetUnencryptedHTTP2(tt.protocol == H2C)
			t.Cleanup(transport.CloseIdleConnections)
			test(t, s, &http.Client{Transport: transport, Timeout: waitTimeout})
		})
	}
}

// fetchFrom asks once, and returns the status, and the body or the error.
func fetchFrom(client *http.Client, url string) (status int, text string) {
	resp, err := client.Get(url)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(b) + resp.Trailer.Get("X-End")
}

// post sends a body, and reads the response.
func post(t *testing.T, client *http.Client, url string, body io.Reader) *http.Response {
	t.Helper()
	resp, err := client.Post(url, "text/plain", body)
	must.Succeed(t, err)
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp
}

func TestCountsOverEachProtocol(t *testing.T) {
	routes := map[string]Route{"b": {Reply: Status(503, 3)}, "c": {Reply: Chunked(17)}, "s": {Reply: Slow(5, 2, time.Millisecond)}, "d": {Latency: Fixed(ms)}}
	over(t, Config{Routes: routes, Record: 9}, func(t *testing.T, s *Server, client *http.Client) {
		answers := []struct {
			path   string
			status int
			text   string
		}{
			{"/1", 200, strings.Repeat("x", 64)},
			{"/b/2", 503, "xxx"},
			{"/c/3", 200, strings.Repeat("x", 17) + "1"},
			{"/s/4?a=b", 200, "xxxxx"},
			{"/d/5", 200, strings.Repeat("x", 64)},
		}
		for _, want := range answers {
			if status, text := fetchFrom(client, s.URL()+want.path); status != want.status || text != want.text {
				t.Errorf("%s is answered %d %q, want %d %q", want.path, status, text, want.status, want.text)
			}
		}
		resp := post(t, client, s.URL()+"/6", strings.NewReader("body"))
		if resp.Header.Get("Date") != "" || (resp.TLS != nil) != s.protocol.isSecure() || (resp.ProtoMajor == 2) != (s.protocol != TLS) {
			t.Errorf("answered over %s, TLS %t, with %v", resp.Proto, resp.TLS != nil, resp.Header)
		}
		got := until(t, s, func(c Counters) bool { return c.Answered == 6 })
		want := Counters{
			Requests: 6, Answered: 6, PeakInFlight: 1,
			Routes: map[string]int64{"": 2, "b": 1, "c": 1, "s": 1, "d": 1},
		}
		same.As(t, "counters", want, got, cmpopts.IgnoreFields(Counters{}, "First", "Last", "Connections", "Open", "PeakOpen"))
		// Over HTTP/1.1, the client closes a connection if it was not let run for 50 ms after
		// it had written a request, be it as often as it likes. Over HTTP/2, it gives a connection to its first
		// request before it offers it to others (dialConnFor of net/http): the second request may dial, too.
		if got.Connections < 1 || got.Connections > 2 && s.protocol != TLS || got.Connections >= 6 {
			t.Errorf("%d connections for 6 requests, want one that is used again", got.Connections)
		}
		for i, r := range s.Records() {
			if r.Number != int64(i+1) || r.Answered < r.Received || r.Processor != 0 || r.Number == 5 && r.Answered-r.Received < int64(ms) {
				t.Errorf("record %d is %+v", i, r)
			}
		}
		client.CloseIdleConnections()
		until(t, s, func(c Counters) bool { return c.Open == 0 })
	})
}

func TestStallOverEachProtocol(t *testing.T) {
	const from, length = 20 * time.Millisecond, 200 * time.Millisecond
	script := []Event{{Kind: Stall, From: from, For: length}}
	const late = 7 // the number of a request whose answer falls due meanwhile
	routes := map[string]Route{"late": {Latency: Fixed(from + length/2)}}
	over(t, Config{Record: 10_000, Script: script, Routes: routes}, func(t *testing.T, s *Server, client *http.Client) {
		ask := func() {
			if status, text := fetchFrom(client, s.URL()+"/1"); status != http.StatusOK {
				t.Fatalf("answered %d, %s", status, text)
			}
		}
		answered := make(chan int)
		go func() {
			status, _ := fetchFrom(client, s.URL()+"/late/7")
			answered <- status
		}()
		for ask(); len(s.Counters().Stalls) == 0; {
			ask()
		}
		ask()
		if status := <-answered; status != http.StatusOK {
			t.Errorf("answered %d", status)
		}
		got := until(t, s, func(c Counters) bool { return c.InFlight == 0 })
		stall := got.Stalls[0]
		if stall.From < got.First+int64(from) || stall.To < stall.From+int64(length) {
			t.Errorf("the stall was from %d to %d, the first request came at %d", stall.From, stall.To, got.First)
		}
		within := 0
		for _, r := range s.Records() {
			if r.Processor <= 0 {
				t.Errorf("record %+v has no processor time", r)
			}
			if stall.From < r.Answered && r.Answered < stall.To {
				within++
				if r.Number == late {
					t.Errorf("an answer that fell due while the server stood still left %v before it went on", time.Duration(stall.To-r.Answered))
				}
			}
		}
		if within > 1 { // one may have left, and was not yet recorded
			t.Errorf("%d requests were answered while the server stood still", within)
		}
	})
}

func TestResetsOverEachProtocol(t *testing.T) {
	script := []Event{{Kind: Resets, For: time.Hour}}
	over(t, Config{Script: script}, func(t *testing.T, s *Server, client *http.Client) {
		resp, err := client.Post(s.URL(), "text/plain", strings.NewReader("no client sends this again"))
		if err == nil {
			_ = resp.Body.Close()
			t.Fatalf("answered %s, want a reset", resp.Status)
		}
		got := until(t, s, func(c Counters) bool { return c.Open == 0 && c.InFlight == 0 })
		if got.Requests != 1 || got.Answered != 0 {
			t.Errorf("counters %+v, want a request without an answer", got)
		}
	})
}

// A route that resets does so to the stream over HTTP/2, and to the connection else.
func TestResetReplyOverEachProtocol(t *testing.T) {
	over(t, Config{Routes: map[string]Route{"r": {Reply: Reset()}}}, func(t *testing.T, s *Server, client *http.Client) {
		fetchFrom(client, s.URL())
		resp, err := client.Post(s.URL()+"/r", "text/plain", strings.NewReader("x"))
		if err == nil {
			_ = resp.Body.Close()
			t.Fatalf("answered %s, want a reset", resp.Status)
		}
		fetchFrom(client, s.URL())
		got := until(t, s, func(c Counters) bool { return c.Answered == 3 })
		if (got.Connections == 1) != (s.protocol != TLS) || got.Requests != 3 || got.InFlight != 0 {
			t.Errorf("counters %+v", got)
		}
	})
}

func TestRefuseOverEachProtocol(t *testing.T) {
	const from, length = time.Second, 50 * time.Millisecond // the first answer leaves before
	script := []Event{{Kind: Refuse, From: from, For: length}}
	over(t, Config{Script: script}, func(t *testing.T, s *Server, client *http.Client) {
		if status, text := fetchFrom(client, s.URL()); status != http.StatusOK {
			t.Fatalf("answered %d, %s", status, text)
		}
		until(t, s, func(c Counters) bool { return c.Open == 0 })
		before := s.Counters()
		for deadline := time.After(waitTimeout); ; {
			if status, text := fetchFrom(client, s.URL()); status == http.StatusOK {
				break
			} else if !strings.Contains(text, "refused") && !strings.Contains(text, "EOF") && !strings.Contains(text, "reset") {
				t.Errorf("while the port is closed, a request ends with %s", text)
			}
			select {
			case <-deadline:
				t.Fatal("the port is not opened again")
			case <-time.After(time.Millisecond):
			}
		}
		got := until(t, s, func(c Counters) bool { return c.Answered == 2 })
		if got.Requests != 2 || got.Connections <= before.Connections || got.Last < got.First+int64(from+length) {
			t.Errorf("counters %+v, %+v while the port was closed", got, before)
		}
	})
}

// Each request has its connection ended, and all of them are answered.
func TestGoAwayOverEachProtocol(t *testing.T) {
	script := []Event{{Kind: GoAway, For: time.Hour}}
	over(t, Config{Script: script}, func(t *testing.T, s *Server, client *http.Client) {
		sent := int64(0)
		for deadline := time.After(waitTimeout); s.Counters().Connections < 4; {
			if status, text := fetchFrom(client, s.URL()); status != http.StatusOK {
				t.Fatalf("answered %d, %s", status, text)
			}
			sent++
			select {
			case <-deadline:
				t.Fatalf("%d requests went over %d connections", sent, s.Counters().Connections)
			default:
			}
		}
		got := until(t, s, func(c Counters) bool { return c.Answered == sent })
		if got.Requests != sent {
			t.Errorf("%d requests were counted, want %d", got.Requests, sent)
		}
	})
}

// What comes on a connection after its GOAWAY is neither processed nor counted.
func TestWhatComesAfterGoAwayIsNotCounted(t *testing.T) {
	s := start(t, Config{Protocol: H2C, Script: []Event{{Kind: GoAway, For: time.Hour}}})
	c := dialHTTP2(t, s)
	c.get(1, "/")
	for ended, away := false, false; !ended || !away; {
		f, err := c.ReadFrame()
		if err != nil {
			t.Fatalf("the connection ended with %v, a GOAWAY had come: %t", err, away)
		}
		switch f := f.(type) {
		case *http2.GoAwayFrame:
			away = true
			if f.LastStreamID != 1 || f.ErrCode != http2.ErrCodeNo {
				t.Errorf("it is %v", f)
			}
			c.get(3, "/")
		case *http2.DataFrame:
			ended = f.StreamEnded()
		}
	}
	for {
		f, err := c.ReadFrame()
		if err != nil {
			break // the server has closed the connection
		}
		if f.Header().StreamID == 3 {
			t.Errorf("it is answered by %v", f)
		}
	}
	if got := s.Counters(); got.Requests != 1 || got.Answered != 1 {
		t.Errorf("counters %+v, want one request", got)
	}
}

func TestSlowOverEachProtocol(t *testing.T) {
	script := []Event{{Kind: SlowReads, For: time.Hour}}
	const pieces = 20
	over(t, Config{Record: 1, Script: script}, func(t *testing.T, s *Server, client *http.Client) {
		post(t, client, s.URL(), bytes.NewReader(make([]byte, pieces*slowPiece)))
		until(t, s, func(c Counters) bool { return c.Answered == 1 })
		if r := s.Records()[0]; r.Answered-r.Received < pieces*int64(slowEvery) {
			t.Errorf("answered after %v, want %v or more", time.Duration(r.Answered-r.Received), pieces*slowEvery)
		}
	})
}

// Many requests at once are counted exactly, and so are those that the client gives up.
func TestRequestsAtOnceOverEachProtocol(t *testing.T) {
	const requests = 50
	over(t, Config{Record: requests, Routes: map[string]Route{"": {Latency: Fixed(20 * ms)}, "long": {Latency: Fixed(time.Hour)}}},
		func(t *testing.T, s *Server, client *http.Client) {
			failed := make(chan string, requests)
			for i := range requests {
				go func() {
					status, text := fetchFrom(client, fmt.Sprintf("%s/%d", s.URL(), i))
					if status == http.StatusOK {
						text = ""
					}
					failed <- text
				}()
			}
			for range requests {
				if text := <-failed; text != "" {
					t.Error(text)
				}
			}
			got := until(t, s, func(c Counters) bool { return c.Answered == requests })
			seen := map[int64]bool{}
			for _, r := range s.Records() {
				seen[r.Number] = true
			}
			if got.Requests != requests || len(seen) != requests || got.InFlight != 0 || got.PeakInFlight < 2 {
				t.Errorf("counters %+v, %d numbers", got, len(seen))
			}
			impatient := *client
			impatient.Timeout = 20 * ms
			if status, _ := fetchFrom(&impatient, s.URL()+"/long"); status != 0 {
				t.Errorf("answered %d, want a timeout", status)
			}
			until(t, s, func(c Counters) bool { return c.InFlight == 0 && c.Answered == requests })
		})
}
