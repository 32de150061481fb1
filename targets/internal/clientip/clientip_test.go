package clientip

import (
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

func TestClientIsNamedByTrustedProxiesAlone(t *testing.T) {
	trusted := Trusted{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	tests := map[string]struct {
		peer      string
		forwarded []string
		want      string
		refused   bool
	}{
		"no proxy":                            {peer: "192.0.2.7:4711", want: "192.0.2.7"},
		"no proxy, IPv6":                      {peer: "[2001:db8::1]:4711", want: "2001:db8::1"},
		"a stranger's header is not believed": {peer: "192.0.2.7:4711", forwarded: []string{"1.1.1.1"}, want: "192.0.2.7"},
		"nor refused":                         {peer: "192.0.2.7:4711", forwarded: []string{"not a name!"}, want: "192.0.2.7"},
		"a trusted proxy names the client":    {peer: "10.1.2.3:4711", forwarded: []string{"192.168.1.100"}, want: "192.168.1.100"},
		"the first of several":                {peer: "10.1.2.3:4711", forwarded: []string{" 192.168.1.100 , 10.9.9.9"}, want: "192.168.1.100"},
		"the first of several headers":        {peer: "10.1.2.3:4711", forwarded: []string{"192.168.1.100", "192.168.1.101"}, want: "192.168.1.100"},
		"IPv6":                                {peer: "10.1.2.3:4711", forwarded: []string{"2001:db8::7"}, want: "2001:db8::7"},
		"a name":                              {peer: "10.1.2.3:4711", forwarded: []string{"client_7-b"}, want: "client_7-b"},
		"the first and last of what may be":   {peer: "10.1.2.3:4711", forwarded: []string{"azAZ09.:_-"}, want: "azAZ09.:_-"},
		"a peer without an address":           {peer: "proxy:4711", forwarded: []string{"1.1.1.1"}, want: "proxy"},
		"a trusted peer over IPv6":            {peer: "[fd00::9]:4711", forwarded: []string{"1.2.3.4"}, want: "1.2.3.4"},
		"a trusted peer with a zone":          {peer: "[fd00::9%eth0]:4711", forwarded: []string{"1.2.3.4"}, want: "1.2.3.4"},
		"IPv4 on a socket of both families":   {peer: "[::ffff:10.1.2.3]:4711", forwarded: []string{"1.2.3.4"}, want: "1.2.3.4"},
		"a trusted proxy without the header":  {peer: "10.1.2.3:4711", want: "10.1.2.3"},
		"an empty header":                     {peer: "10.1.2.3:4711", forwarded: []string{""}, want: "10.1.2.3"},
		"an empty first element":              {peer: "10.1.2.3:4711", forwarded: []string{" , 192.168.1.100"}, want: "10.1.2.3"},
		"the longest name":                    {peer: "10.1.2.3:4711", forwarded: []string{strings.Repeat("a", 64)}, want: strings.Repeat("a", 64)},
		"too long":                            {peer: "10.1.2.3:4711", forwarded: []string{strings.Repeat("a", 65)}, refused: true},
		"a space":                             {peer: "10.1.2.3:4711", forwarded: []string{"a b"}, refused: true},
		"a control character":                 {peer: "10.1.2.3:4711", forwarded: []string{"a\tb"}, refused: true},
		"not ASCII":                           {peer: "10.1.2.3:4711", forwarded: []string{"ä"}, refused: true},
		"a pattern of keys":                   {peer: "10.1.2.3:4711", forwarded: []string{"*"}, refused: true},
		"no address":                          {peer: "@", refused: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/api", nil)
			r.RemoteAddr = tc.peer
			for _, value := range tc.forwarded {
				r.Header.Add("X-Forwarded-For", value)
			}
			got, err := trusted.Client(r)
			if (err != nil) != tc.refused || got != tc.want {
				t.Errorf("client = %q, %v; want %q, refused %v", got, err, tc.want, tc.refused)
			}
		})
	}
}

func TestNoProxyIsTrustedByDefault(t *testing.T) {
	r := httptest.NewRequest("GET", "/api", nil)
	r.RemoteAddr = "127.0.0.1:4711"
	r.Header.Set("X-Forwarded-For", "192.168.1.100")
	if got, err := Trusted(nil).Client(r); err != nil || got != "127.0.0.1" {
		t.Errorf("client = %q, %v; want the peer, 127.0.0.1", got, err)
	}
}

// Whatever a header holds, the name that becomes a key is short and plain.
func FuzzClient(f *testing.F) {
	for _, seed := range []string{"", ",", "1.2.3.4, 5.6.7.8", "ratelimit:tb:*", strings.Repeat("x", 100), "\x00"} {
		f.Add(seed)
	}
	everyone := Trusted{netip.MustParsePrefix("0.0.0.0/0")}
	f.Fuzz(func(t *testing.T, value string) {
		r := httptest.NewRequest("GET", "/api", nil)
		r.RemoteAddr = "192.0.2.7:4711"
		r.Header["X-Forwarded-For"] = []string{value}
		got, err := everyone.Client(r)
		if err != nil {
			return
		}
		if got == "" || len(got) > 64 || strings.ContainsAny(got, "* ,\t\r\n\x00") {
			t.Errorf("%q names the client %q", value, got)
		}
	})
}
