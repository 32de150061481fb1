package accesslog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
)

// harHead is how an HTTP archive begins. Its log is an object with one of these fields first, unlike
// the field log of a line that a program wrote.
var harHead = regexp.MustCompile(`^\x{FEFF}?\s*\{\s*"log"\s*:\s*\{\s*"(?:version|creator|browser|pages|entries|comment)"`)

// harHeadBytes is how much of a file is looked at.
const harHeadBytes = 256

// har reads an HTTP archive (http://www.softwareishard.com/blog/har-12-spec) and is read as lines of
// JSON with the names of Envoy: one for each entry, in their order. All else is passed over as it is
// read, bodies too, however long: what it keeps is bounded.
type har struct {
	in *bufio.Reader
	// line is what is not read yet of an entry.
	line    bytes.Buffer
	entries int64
	begun   bool
	err     error
}

// isHAR says whether a file is an HTTP archive.
func isHAR(in *bufio.Reader) bool {
	start, _ := in.Peek(harHeadBytes) // less if the file is shorter
	return harHead.Match(start)
}

func (h *har) Read(p []byte) (int, error) {
	for h.line.Len() == 0 && h.err == nil {
		h.err = h.next()
	}
	if h.line.Len() > 0 {
		return h.line.Read(p)
	}
	return 0, h.err
}

// next reads an entry. At the end of the entries the error is io.EOF.
func (h *har) next() (err error) {
	defer func() {
		if errors.Is(err, errSyntax) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("the HAR file, behind entry %d: %w", h.entries, err)
		}
	}()
	if !h.begun {
		h.begun = true
		if err := h.begin(); err != nil {
			return err
		}
	}
	first, err := h.byte()
	if err == nil && first == ',' && h.entries > 0 {
		first, err = h.byte()
	}
	switch {
	case err != nil:
		return err
	case first == ']':
		return io.EOF
	}
	h.entries++
	return h.entry(first)
}

// begin goes to the first entry.
func (h *har) begin() error {
	if mark, _ := h.in.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		_, _ = h.in.Discard(len(mark)) // it was peeked
	}
	found := errors.New("found")
	into := func(name string, then func(first byte) error) func(string, byte) error {
		return func(key string, first byte) error {
			if key != name {
				return h.skip(first)
			}
			return then(first)
		}
	}
	first, err := h.byte()
	if err != nil {
		return err
	}
	err = h.members(first, into("log", func(first byte) error {
		return h.members(first, into("entries", func(first byte) error {
			if first != '[' {
				return errSyntax
			}
			return found
		}))
	}))
	switch {
	case errors.Is(err, found):
		return nil
	case err == nil:
		return errors.New("the HAR file has no log.entries")
	}
	return err
}

// entry writes the line of an entry, of which the first byte is read. What is no object is a line that
// is no request.
func (h *har) entry(first byte) error {
	var started, method, url, status, lasted []byte
	if first != '{' {
		h.line.WriteString("an entry of the HAR file\n")
		return h.skip(first)
	}
	own := map[string]*[]byte{"startedDateTime": &started, "time": &lasted}
	err := h.members(first, func(key string, first byte) error {
		switch key {
		case "request":
			return h.values(first, map[string]*[]byte{"method": &method, "url": &url})
		case "response":
			return h.values(first, map[string]*[]byte{"status": &status})
		}
		return h.value(key, first, own)
	})
	if err != nil {
		return err
	}
	if before, _, ok := bytes.Cut(url, []byte("#")); ok { // a browser sends no fragment
		url = append(before, '"')
	}
	h.line.WriteByte('{')
	for _, field := range []struct {
		name  string
		value []byte
	}{{"start_time", started}, {"method", method}, {"path", url}, {"response_code", status}, {"duration", lasted}} {
		if len(field.value) == 0 {
			continue
		}
		if h.line.Len() > 1 {
			h.line.WriteByte(',')
		}
		_, _ = fmt.Fprintf(&h.line, "%q:%s", field.name, field.value) // a buffer takes everything
	}
	h.line.WriteString("}\n")
	return nil
}

var errSyntax = errors.New("it is not JSON")

// byte is the next one that is no space.
func (h *har) byte() (byte, error) {
	for {
		b, err := h.raw()
		if err != nil || b != ' ' && b != '\t' && b != '\n' && b != '\r' {
			return b, err
		}
	}
}

// raw is the next byte. The file must not end there.
func (h *har) raw() (byte, error) {
	b, err := h.in.ReadByte()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

// members calls a function for each member of an object, of which the first byte is read, with the
// first byte of its value. The function has to read the rest of the value.
func (h *har) members(first byte, do func(key string, first byte) error) error {
	if first != '{' {
		return errSyntax
	}
	for n := 0; ; n++ {
		b, err := h.byte()
		if err == nil && b == ',' && n > 0 {
			b, err = h.byte()
		}
		switch {
		case err != nil:
			return err
		case b == '}':
			return nil
		}
		key, err := h.scalar(b)
		if err != nil {
			return err
		}
		colon, err := h.byte()
		if err != nil {
			return err
		}
		if b != '"' || colon != ':' {
			return errSyntax
		}
		if b, err = h.byte(); err != nil {
			return err
		}
		if err := do(string(bytes.Trim(key, `"`)), b); err != nil {
			return err
		}
	}
}

// values keeps the wanted values of an object, by their keys.
func (h *har) values(first byte, wanted map[string]*[]byte) error {
	if first != '{' {
		return h.skip(first)
	}
	return h.members(first, func(key string, first byte) error { return h.value(key, first, wanted) })
}

// value keeps a value if it is wanted.
func (h *har) value(key string, first byte, wanted map[string]*[]byte) (err error) {
	into := wanted[key]
	if into == nil {
		return h.skip(first)
	}
	*into, err = h.scalar(first)
	return err
}

// scalar is a value as the file has it, of which the first byte is read. It is nil if the value is an
// object, an array, longer than a line may be, or not JSON. Escapes in a text are not resolved.
func (h *har) scalar(first byte) ([]byte, error) {
	if first == '{' || first == '[' {
		return nil, h.skip(first)
	}
	kept := []byte{first}
	read := h.literal
	if first == '"' {
		read = h.text
	}
	err := read(func(b byte) {
		if len(kept) <= MaxLine {
			kept = append(kept, b)
		}
	})
	if len(kept) > MaxLine || first != '"' && !isLiteral(kept) {
		kept = nil
	}
	return kept, err
}

// isLiteral says whether a literal consists of what numbers and names consist of.
func isLiteral(literal []byte) bool {
	for _, b := range literal {
		if b != '+' && b != '-' && b != '.' && (b < '0' || b > '9') && (b < 'a' || b > 'z') && b != 'E' {
			return false
		}
	}
	return true
}

// text reads the rest of a text, with the quote at its end.
func (h *har) text(each func(byte)) error {
	escaped := false
	for {
		b, err := h.raw()
		switch {
		case err != nil:
			return err
		case b < ' ':
			return errSyntax
		}
		each(b)
		switch {
		case escaped:
			escaped = false
		case b == '\\':
			escaped = true
		case b == '"':
			return nil
		}
	}
}

// literal reads the rest of a number, true, false or null.
func (h *har) literal(each func(byte)) error {
	for {
		b, err := h.raw()
		switch {
		case err != nil:
			return err
		case bytes.IndexByte([]byte(",}] \t\r\n"), b) >= 0:
			return h.in.UnreadByte()
		case b == '"' || b == '{' || b == '[' || b == ':':
			return errSyntax
		}
		each(b)
	}
}

// skip passes over the rest of a value, of which the first byte is read. Objects and arrays may be
// nested to any depth: they are counted, and not looked into.
func (h *har) skip(first byte) error {
	nothing := func(byte) {}
	for depth := 0; ; {
		switch first {
		case '"':
			if err := h.text(nothing); err != nil {
				return err
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return errSyntax
			}
		case ',', ':':
			if depth == 0 {
				return errSyntax
			}
		default:
			if err := h.literal(nothing); err != nil {
				return err
			}
		}
		if depth == 0 {
			return nil
		}
		var err error
		if first, err = h.byte(); err != nil {
			return err
		}
	}
}
