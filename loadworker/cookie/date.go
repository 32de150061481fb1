package cookie

import (
	"bytes"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// parseDate reads the date of Expires. Where it is not one of HTTP, it is read as browsers do (RFC 6265, 5.1.1): many
// servers write hyphens between day, month and year, as Netscape did, and some a year of two digits.
func parseDate(text []byte) (at time.Time, ok bool) {
	if at, err := http.ParseTime(string(text)); err == nil {
		return at, true
	}
	var d date
	for token := range bytes.FieldsFuncSeq(text, isBetween) {
		d.take(token)
	}
	return d.time()
}

// isBetween says whether a character separates the parts of a date.
func isBetween(c rune) bool {
	return c == '\t' || c >= ' ' && c <= '/' || c >= ';' && c <= '@' || c >= '[' && c <= '`' || c >= '{' && c <= '~'
}

// date has the parts that were found so far.
type date struct {
	clock, day, year []int // empty: not found
	month            time.Month
}

// What the parts begin with; no further digit follows.
var (
	clockSyntax = regexp.MustCompile(`^([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[^0-9]|$)`)
	daySyntax   = regexp.MustCompile(`^([0-9]{1,2})(?:[^0-9]|$)`)
	yearSyntax  = regexp.MustCompile(`^([0-9]{2,4})(?:[^0-9]|$)`)
)

var months = []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}

// take takes the first part that a token can be and that was not found yet.
func (d *date) take(token []byte) {
	month := 1 + slices.Index(months, string(bytes.ToLower(token[:min(3, len(token))])))
	switch {
	case numbers(&d.clock, clockSyntax, token), numbers(&d.day, daySyntax, token):
	case d.month == 0 && month > 0:
		d.month = time.Month(month)
	default:
		numbers(&d.year, yearSyntax, token)
	}
}

// numbers sets the numbers of a token, unless they are set or it has another syntax.
func numbers(list *[]int, syntax *regexp.Regexp, token []byte) bool {
	found := syntax.FindSubmatch(token)
	if *list != nil || found == nil {
		return false
	}
	for _, digits := range found[1:] {
		n, _ := strconv.Atoi(string(digits)) // they are at most four
		*list = append(*list, n)
	}
	return true
}

// time is the date; ok is false if a part is missing, or out of its range.
func (d *date) time() (at time.Time, ok bool) {
	if d.clock == nil || d.day == nil || d.month == 0 || d.year == nil {
		return at, false
	}
	year := d.year[0]
	if year < 70 {
		year += 2000
	} else if year < 100 {
		year += 1900
	}
	at = time.Date(year, d.month, d.day[0], d.clock[0], d.clock[1], d.clock[2], 0, time.UTC)
	// A part out of its range would have moved the others.
	h, m, s := at.Clock()
	return at, year > 1600 && at.Day() == d.day[0] && slices.Equal(d.clock, []int{h, m, s})
}
