package targetsfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
)

// MaxSize bounds a file: it is 16 times what a ConfigMap holds.
const MaxSize = 16 << 20

// Format is one of vegeta's formats.
type Format uint8

const (
	// HTTP has a method and a URL on a line, and headers on those after it.
	HTTP Format = iota
	// JSON has an object on each line.
	JSON
)

// fix says how a target of a format is written.
var fix = [...]string{
	HTTP: "write a method and a URL on a line, each header on one after it as Name: value, and an empty line before the next target",
	JSON: `write {"method": "GET", "url": "http://host/path", "header": {"Name": ["value"]}, "body": "in base64"}, each target on a line of its own`,
}

// Read reads all targets of a file. Its errors name the line and the way out. They show
// no header and no body, which may be secret.
func Read(r io.Reader, format Format, target Origin) (*source.Targets, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxSize+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxSize {
		return nil, fmt.Errorf("is larger than %d MiB, the most that a worker reads: divide the targets over several files", MaxSize>>20)
	}
	in := &lines{text: append(text, '\n')}
	next := vegeta.NewJSONTargeter(in, nil, nil)
	if format == HTTP {
		if err := checkHTTP(text); err != nil {
			return nil, err
		}
		next = vegeta.NewHTTPTargeter(in, nil, nil)
	}
	all := &source.Targets{}
	for {
		first := in.next()
		var t vegeta.Target
		err := next(&t)
		switch {
		case errors.Is(err, vegeta.ErrNoTargets) && all.Len() == 0:
			return nil, fmt.Errorf("has no target: %s", fix[format])
		case errors.Is(err, vegeta.ErrNoTargets):
			return all, nil
		case err != nil:
			cause, _, _ := strings.Cut(err.Error(), ":")
			return nil, fmt.Errorf("line %d: %s: %s", in.line, cause, fix[format])
		}
		if format == JSON {
			first = in.line
		}
		if err := add(all, &t, target); err != nil {
			return nil, fmt.Errorf("line %d: %w", first, err)
		}
		in.ended(first)
	}
}

// add adds a target of vegeta.
func add(all *source.Targets, t *vegeta.Target, target Origin) error {
	path, err := target.path(t.URL)
	if err != nil {
		return err
	}
	x := source.Target{Method: t.Method, Path: path, Body: t.Body}
	for name, values := range t.Header {
		for _, value := range values {
			if err := target.checkHeader(name, value); err != nil {
				return err
			}
			x.Headers = append(x.Headers, source.Header{Name: name, Value: value})
		}
	}
	// Those of a map are in no order; the same file gives the same requests.
	slices.SortStableFunc(x.Headers, func(a, b source.Header) int { return strings.Compare(a.Name, b.Name) })
	return all.Add(x)
}

// checkHTTP refuses lines that vegeta's Targeter would read from another file, and those
// at which it would stop without an error.
func checkHTTP(text []byte) error {
	line := 0
	for l := range bytes.Lines(text) {
		line++
		switch {
		case len(l) >= bufio.MaxScanTokenSize:
			return fmt.Errorf("line %d: has more than %d bytes, the most of vegeta's HTTP format: write the targets in its JSON format", line, bufio.MaxScanTokenSize)
		case bytes.HasPrefix(bytes.TrimSpace(l), []byte("@")):
			return fmt.Errorf("line %d: a worker cannot read a body from another file: write the targets in the JSON format, which holds bodies (vegeta attack reads it too)", line)
		}
	}
	return nil
}
