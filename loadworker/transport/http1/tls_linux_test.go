package http1

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/dial"
	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/measure"
	"github.com/loadtest-dev/loadtest-operator/test/scripted"
)

const hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

// eachWayOverTLS runs a test by each way to send over TLS.
func eachWayOverTLS(t *testing.T, test func(*testing.T, way)) {
	t.Helper()
	for kind, way := range senders(t) {
		if way.secured {
			t.Run(kind, func(t *testing.T) { test(t, way) })
		}
	}
}

// What a server may do at the level of TLS has an outcome of a known class, and leaves a
// connection that can be used, or none.
func TestRecordsOfTLS(t *testing.T) {
	text := func(r *scripted.Records, s string) { r.Write(scripted.TextRecord, []byte(s)...) }
	tests := map[string]struct {
		answer func(*scripted.Records)
		class  measure.Outcome
		closed bool
		either bool // whether it is closed depends on when the end comes
	}{
		"text":                  {answer: func(r *scripted.Records) { text(r, hello) }},
		"a byte a record":       {answer: func(r *scripted.Records) { eachByte(hello, func(s string) { text(r, s) }) }},
		"empty records between": {answer: func(r *scripted.Records) { text(r, ""); text(r, hello[:9]); text(r, ""); text(r, hello[9:]) }},
		"keys change": {answer: func(r *scripted.Records) {
			r.UpdateKeys(false)
			text(r, hello[:9])
			r.UpdateKeys(false)
			text(r, hello[9:])
		}},
		"keys change on both sides": {answer: func(r *scripted.Records) {
			r.UpdateKeys(true)
			text(r, hello[:9])
			r.UpdateKeys(true)
			text(r, hello[9:])
		}},
		"tickets": {answer: func(r *scripted.Records) {
			r.Write(scripted.HandshakeRecord, scripted.Ticket(200)...)
			text(r, hello)
			r.Write(scripted.HandshakeRecord, scripted.Ticket(9)...)
		}},
		"a ticket in two records": {answer: func(r *scripted.Records) {
			m := scripted.Ticket(200)
			r.Write(scripted.HandshakeRecord, m[:7]...)
			r.Write(scripted.HandshakeRecord, m[7:]...)
			text(r, hello)
		}},
		"a record in pieces": {answer: func(r *scripted.Records) {
			eachByte(string(r.Record(scripted.TextRecord, []byte(hello)...)), func(s string) { r.WriteRaw([]byte(s)) })
		}},
		"close_notify after the text": {answer: func(r *scripted.Records) { text(r, hello); r.Write(scripted.AlertRecord, 1, 0) }, either: true},
		"until close_notify": {answer: func(r *scripted.Records) {
			text(r, "HTTP/1.1 200 OK\r\n\r\nhello")
			r.Write(scripted.AlertRecord, 1, 0)
		}, closed: true},
		"close_notify in the text": {answer: func(r *scripted.Records) { text(r, hello[:9]); r.Write(scripted.AlertRecord, 1, 0) }, class: measure.Reset, closed: true},
		"text after close_notify":  {answer: func(r *scripted.Records) { r.Write(scripted.AlertRecord, 1, 0); text(r, hello) }, class: measure.Reset, closed: true},
		"a fatal alert":            {answer: func(r *scripted.Records) { r.Write(scripted.AlertRecord, 2, 80) }, class: measure.TLS, closed: true},
		"an alert after the text": {answer: func(r *scripted.Records) {
			r.WriteRaw(append(r.Record(scripted.TextRecord, []byte(hello)...), r.Record(scripted.AlertRecord, 2, 80)...))
		}, either: true},
		"a forged record": {answer: func(r *scripted.Records) {
			b := r.Record(scripted.TextRecord, []byte(hello)...)
			b[len(b)-1] ^= 1
			r.WriteRaw(b)
		}, class: measure.TLS, closed: true},
		"a record twice": {answer: func(r *scripted.Records) {
			b := r.Record(scripted.TextRecord, []byte(hello[:9])...)
			r.WriteRaw(b)
			r.WriteRaw(b)
		}, class: measure.TLS, closed: true},
		"a record too long":       {answer: func(r *scripted.Records) { r.WriteRaw([]byte{23, 3, 3, 0xff, 0xff}) }, class: measure.BadResponse, closed: true},
		"no TLS any more":         {answer: func(r *scripted.Records) { r.WriteRaw([]byte(hello)) }, class: measure.BadResponse, closed: true},
		"a text that is too long": {answer: func(r *scripted.Records) { r.Write(scripted.TextRecord, make([]byte, 16<<10+1)...) }, class: measure.TLS, closed: true},
		"an unknown kind":         {answer: func(r *scripted.Records) { r.Write(99, 1) }, class: measure.TLS, closed: true},
		"an unknown message":      {answer: func(r *scripted.Records) { r.Write(scripted.HandshakeRecord, 13, 0, 0, 0) }, class: measure.TLS, closed: true},
		"text within a message":   {answer: func(r *scripted.Records) { r.Write(scripted.HandshakeRecord, 4, 0); text(r, hello) }, class: measure.TLS, closed: true},
		"tickets without end": {answer: func(r *scripted.Records) {
			for range 100 {
				r.Write(scripted.HandshakeRecord, scripted.Ticket(9)...)
			}
		}, class: measure.BadResponse, closed: true},
		"empty records without end": {answer: func(r *scripted.Records) {
			for range 100 {
				text(r, "")
			}
		}, class: measure.BadResponse, closed: true},
		"a message of a gigabyte": {answer: func(r *scripted.Records) { r.Write(scripted.HandshakeRecord, 4, 0xff, 0xff, 0xff) }, class: measure.BadResponse, closed: true},
	}
	eachWayOverTLS(t, func(t *testing.T, way way) {
		for name, tt := range tests {
			t.Run(name, func(t *testing.T) {
				client, server := scripted.Identity(t)
				url := scripted.Serve(t, func(c *net.TCPConn, _ *bufio.Reader) {
					secured, records := scripted.ShakeHands(t, c, server)
					from := bufio.NewReader(secured)
					for records != nil {
						if _, err := http.ReadRequest(from); err != nil {
							return
						}
						tt.answer(records)
					}
				})
				d := newTestClient(t, dial.Config{URL: strings.Replace(url, "http:", "https:", 1), TLS: client})
				s := way.from(d)
				for turn := range 2 {
					r, err := s.send(scripted.Get, scripted.Patience)
					wantOutcome(t, err, tt.class, failure.Reading)
					if err == nil && r.Size != 5 || !tt.either && s.isOpen() == tt.closed {
						t.Errorf("turn %d: %d bytes, open %v; want 5, %v", turn, r.Size, s.isOpen(), !tt.closed)
					}
					if tt.closed || tt.either {
						break
					}
				}
				if d.Opened() != 1 {
					t.Errorf("%d connections opened, want 1", d.Opened())
				}
			})
		}
	})
}

func eachByte(s string, do func(string)) {
	for i := range len(s) {
		do(s[i : i+1])
	}
}

// Both versions, a client certificate, and the ways in which they fail.
func TestHandshakesOverTheLoop(t *testing.T) {
	tests := map[string]struct {
		client, server func(*tls.Config)
		class          measure.Outcome
		phase          failure.Phase
	}{
		"TLS 1.2":                  {server: func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }},
		"TLS 1.3":                  {server: func(c *tls.Config) { c.MinVersion = tls.VersionTLS13 }},
		"with a certificate":       {server: requireCertificate, client: func(c *tls.Config) { c.Certificates = ownCertificate(t) }},
		"with one over TLS 1.2":    {server: func(c *tls.Config) { requireCertificate(c); c.MaxVersion = tls.VersionTLS12 }, client: func(c *tls.Config) { c.Certificates = ownCertificate(t) }},
		"without the certificate":  {server: requireCertificate, class: measure.TLS, phase: failure.Reading},
		"without it over TLS 1.2":  {server: func(c *tls.Config) { requireCertificate(c); c.MaxVersion = tls.VersionTLS12 }, class: measure.TLS, phase: failure.Handshaking},
		"an unknown authority":     {client: func(c *tls.Config) { c.RootCAs = nil }, class: measure.TLS, phase: failure.Handshaking},
		"one that is not verified": {client: func(c *tls.Config) { c.RootCAs, c.InsecureSkipVerify = nil, true }},
		"another name":             {client: func(c *tls.Config) { c.ServerName = "shop.test" }, class: measure.TLS, phase: failure.Handshaking},
		"no version in common":     {server: func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 }, class: measure.TLS, phase: failure.Handshaking},
	}
	eachWayOverTLS(t, func(t *testing.T, way way) {
		for name, tt := range tests {
			t.Run(name, func(t *testing.T) {
				client, server := scripted.Identity(t)
				for _, c := range []struct {
					change func(*tls.Config)
					of     *tls.Config
				}{{tt.client, client}, {tt.server, server}} {
					if c.change != nil {
						c.change(c.of)
					}
				}
				url := scripted.Serve(t, func(c *net.TCPConn, _ *bufio.Reader) {
					secured := tls.Server(c, server)
					from := bufio.NewReader(secured)
					for {
						if _, err := http.ReadRequest(from); err != nil {
							return
						}
						_, _ = io.WriteString(secured, hello)
					}
				})
				s := way.from(newTestClient(t, dial.Config{URL: strings.Replace(url, "http:", "https:", 1), TLS: client}))
				for range 3 {
					_, err := s.send(scripted.Get, scripted.Patience)
					if wantOutcome(t, err, tt.class, tt.phase); err != nil {
						break
					}
				}
			})
		}
	})
}

func requireCertificate(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert }

func ownCertificate(t *testing.T) []tls.Certificate {
	t.Helper()
	_, server := scripted.Identity(t)
	return server.Certificates
}

func TestAServerWithoutTLSIsAFailureOfIt(t *testing.T) {
	eachWayOverTLS(t, func(t *testing.T, way way) {
		url := scripted.Serve(t, scripted.Stay(func(c *net.TCPConn, _ *bufio.Reader) { _, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.2\r\n") }))
		s := way.from(newTestClient(t, dial.Config{URL: strings.Replace(url, "http:", "https:", 1)}))
		_, err := s.send(scripted.Get, scripted.Patience)
		wantOutcome(t, err, measure.TLS, failure.Handshaking)
	})
}

// While it idles, a loop takes what is TLS's own, and answers it.
func TestIdleConnectionOfALoopTakesRecords(t *testing.T) {
	client, server := scripted.Identity(t)
	answered := make(chan bool, 1)
	url := scripted.Serve(t, func(c *net.TCPConn, _ *bufio.Reader) {
		secured, records := scripted.ShakeHands(t, c, server)
		if records == nil {
			return
		}
		from := bufio.NewReader(secured)
		_, _ = http.ReadRequest(from)
		records.Write(scripted.TextRecord, []byte(hello)...)
		records.Write(scripted.HandshakeRecord, scripted.Ticket(100)...)
		records.UpdateKeys(true)
		_, err := http.ReadRequest(from) // with the client's new keys
		answered <- err == nil
		records.Write(scripted.TextRecord, []byte(hello)...)
	})
	d := newTestClient(t, dial.Config{URL: strings.Replace(url, "http:", "https:", 1), TLS: client})
	s := newLoopSender(t, d)
	if _, err := s.send(scripted.Get, scripted.Patience); err != nil {
		t.Fatal(err)
	}
	for range 20 { // whatever has come
		s.loop.Wait(time.Since(s.start) + 5*time.Millisecond)
	}
	r, err := s.send(scripted.Get, scripted.Patience)
	if err != nil || !r.Reused || !<-answered {
		t.Errorf("%+v, %v; want an answer over the same connection", r, err)
	}
}

// Any bytes that follow the handshake end in an outcome, soon, and never in a panic.
func FuzzBytesUnderTLS(f *testing.F) {
	f.Add([]byte{23, 3, 3, 0, 1, 0})
	f.Add([]byte{21, 3, 3, 0, 2, 1, 0})
	f.Add([]byte{22, 3, 3, 0, 4, 0, 0, 0, 0})
	f.Add([]byte{20, 3, 3, 0, 1, 1})
	f.Add(bytes.Repeat([]byte{20, 3, 3, 0, 1, 1}, 40))
	client, server := scripted.Identity(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		url := scripted.Serve(t, func(c *net.TCPConn, _ *bufio.Reader) {
			secured := tls.Server(c, server)
			if _, err := http.ReadRequest(bufio.NewReader(secured)); err == nil {
				_, _ = c.Write(in)
			}
		})
		s := newLoopSender(t, newTestClient(t, dial.Config{URL: strings.Replace(url, "http:", "https:", 1), TLS: client}))
		_, err := s.send(scripted.Get, scripted.Patience)
		if class := failure.Classify(err); err == nil || s.isOpen() || class == measure.Timeout || class == measure.Other {
			t.Errorf("%v, of class %v, open %v", err, class, s.isOpen())
		}
	})
}
