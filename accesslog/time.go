package accesslog

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// apache is the layout of Apache and Nginx.
const apache = "02/Jan/2006:15:04:05 -0700"

// layouts are the ways in which logs write a time that is no number. One without a zone is UTC.
var layouts = []string{
	time.RFC3339Nano,
	apache,
	"2006-01-02 15:04:05Z07:00",
	"2006-01-02T15:04:05-0700",
	"2006-01-02 15:04:05",
	"2006-01-02T15:04:05",
}

// firstYear and lastYear bound times. Before 1970 there were no logs of requests, and what
// is beyond 2261 is no number of nanoseconds.
const firstYear, lastYear = 1970, 2261

var errTime = errors.New("the time must be such as 28/Nov/2026:10:00:00 +0000, 2026-11-28T10:00:00Z or 1795860000 (seconds), of the years 1970 to 2261")

// ParseTime reads a time as logs, and exports of series, write it: in the format of Apache, in
// RFC 3339, or as seconds, milliseconds, microseconds or nanoseconds since 1970, which are told
// apart by their size.
func ParseTime(text string) (time.Time, error) {
	var t time.Time
	ok := false
	switch {
	case strings.Contains(text, "/"): // most lines are of this one layout
		t, ok = parseAs(apache, text)
	case !strings.Contains(text, ":"):
		t, ok = parseNumber(text)
	}
	for i := 0; i < len(layouts) && !ok; i++ {
		t, ok = parseAs(layouts[i], text)
	}
	if !ok || t.Year() < firstYear || t.Year() > lastYear {
		return time.Time{}, errTime
	}
	return t, nil
}

func parseAs(layout, text string) (time.Time, bool) {
	t, err := time.Parse(layout, text)
	return t, err == nil
}

// Seconds since 1970 have at most 11 digits until the year 5138.
const (
	lastSecond      = 1e11
	lastMillisecond = lastSecond * 1e3
	lastMicrosecond = lastSecond * 1e6
)

func parseNumber(text string) (time.Time, bool) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || n < 0 || n >= lastSecond*1e9 || strings.ContainsAny(text, "xXpP_") {
		return time.Time{}, false
	}
	switch {
	case n >= lastMicrosecond:
		n /= 1e9
	case n >= lastMillisecond:
		n /= 1e6
	case n >= lastSecond:
		n /= 1e3
	}
	whole, fraction := math.Modf(n)
	// A float of today's seconds is exact to a quarter of a microsecond.
	return time.Unix(int64(whole), int64(math.Round(fraction*1e6))*int64(time.Microsecond)).UTC(), true
}

// clock parses the times of lines that follow one another, most of which are of the same second as the
// one before.
type clock struct {
	head, tail []byte    // of the time before, around the fraction of its second
	at         time.Time // without that
}

// parse is ParseTime.
func (c *clock) parse(text string) (time.Time, error) {
	const (
		isoSeconds = len("2006-01-02T15:04:05")
		longest    = 64
	)
	head, tail, fraction := text, "", time.Duration(0)
	if len(text) > isoSeconds && text[isoSeconds] == '.' && text[isoSeconds-3] == ':' { // and no number with a fraction
		f, n, ok := nanoseconds(text[isoSeconds+1:])
		if !ok {
			return ParseTime(text)
		}
		head, tail, fraction = text[:isoSeconds], text[isoSeconds+1+n:], f
	}
	if len(c.head) > 0 && string(c.head) == head && string(c.tail) == tail {
		return c.at.Add(fraction), nil
	}
	t, err := ParseTime(text)
	if err == nil && len(text) <= longest {
		c.head, c.tail, c.at = append(c.head[:0], head...), append(c.tail[:0], tail...), t.Add(-fraction)
	}
	return t, err
}

// nanoseconds reads the digits of a fraction of a second, of which there are n; ok is false unless
// there are 1 to 9.
func nanoseconds(text string) (fraction time.Duration, n int, ok bool) {
	unit := time.Second
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		unit /= 10
		fraction += time.Duration(text[n]-'0') * unit
		n++
	}
	return fraction, n, n > 0 && unit > 0
}
