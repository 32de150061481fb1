package shortener

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// MaxURLLength is the length in bytes of the longest URL.
const MaxURLLength = 1000

var (
	// ErrURLLength says that a URL is longer than MaxURLLength.
	ErrURLLength = errors.New("URL is too long")
	// ErrURLFormat says that something is no URL that a link may lead to.
	ErrURLFormat = errors.New("no URL of http or https with a host, without credentials")
)

// ParseURL returns the URL that a link to raw leads to, ready to be sent in a
// header: with the scheme in lower case, https when there is none, and with every
// byte escaped that is no visible ASCII character.
//
// Credentials are refused: a user who follows a short link cannot see that
// https://bank.example@evil.example leads to evil.example, and a link is for all to
// see.
func ParseURL(raw string) (string, error) {
	if len(raw) > MaxURLLength {
		return "", ErrURLLength
	}
	// What comes after a path or a query begins is no scheme: the URL may have another one in it.
	if before, _, found := strings.Cut(raw, "://"); !found || strings.ContainsAny(before, "/?#") {
		raw = "https://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrURLFormat, err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return "", ErrURLFormat
	}
	// A scheme means the same in either case; url.Parse returns it in lower case.
	return u.Scheme + escape(raw[len(u.Scheme):]), nil
}

func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
