package flood

import (
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// All are the floods by name. Each call sends a little.
func All() map[string]func(*Conn) error {
	return map[string]func(*Conn) error{
		"settings": func(c *Conn) error {
			return c.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 16})
		},
		"settings acks":  func(c *Conn) error { return c.WriteSettingsAck() },
		"ping replies":   func(c *Conn) error { return c.WritePing(true, [8]byte{}) },
		"pings":          func(c *Conn) error { return c.WritePing(false, [8]byte{}) },
		"window updates": func(c *Conn) error { return c.WriteWindowUpdate(0, 1) },
		"priorities":     func(c *Conn) error { return c.WritePriority(1, http2.PriorityParam{StreamDep: 3}) },
		"unknown frames": func(c *Conn) error { return c.WriteRawFrame(0x7f, 0, 0, make([]byte, 1024)) },
		"resets":         func(c *Conn) error { return c.openAndReset() },
		"junk tokens":    func(c *Conn) error { return c.openAndReset(secret("authorization", "Bearer a/junk/pod")) },
		"large headers":  func(c *Conn) error { return c.open(secret("authorization", strings.Repeat("x", 12<<10))) },
		"continuations": func(c *Conn) error {
			return c.continueHeader(func() []byte { return c.header(secret("x", strings.Repeat("x", 4<<10))) })
		},
		"empty continuations": func(c *Conn) error { return c.continueHeader(func() []byte { return nil }) },
	}
}

// secret is a field that no table of a header's compression keeps, so that it takes its
// length each time.
func secret(name, value string) hpack.HeaderField {
	return hpack.HeaderField{Name: name, Value: value, Sensitive: true}
}
