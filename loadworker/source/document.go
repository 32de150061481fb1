package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"

	"github.com/tidwall/gjson"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
)

// Document is the JSON of a response.
type Document struct {
	JSON []byte
	// name is what messages call it.
	name string
}

func bodyOf(r *transport.Response) Document { return Document{JSON: r.Body, name: "body"} }

// Find returns the value at a path, as text.
func (d Document) Find(p JSONPath) (string, error) {
	value, err := d.find(p)
	return textOf(value), err
}

// Capture is Find of a value that is kept for later requests: null is none.
func (d Document) Capture(p JSONPath) (string, error) {
	value, err := d.find(p)
	if err == nil && value.Type == gjson.Null {
		err = d.lacks(p)
	}
	return textOf(value), err
}

func (d Document) find(p JSONPath) (value gjson.Result, err error) {
	document, ok := parseJSON(d.JSON)
	if !ok {
		return value, d.notJSON()
	}
	if value, ok = p.find(document); !ok {
		return value, d.lacks(p)
	}
	return value, nil
}

// notJSON is the error of one that is no JSON: where it goes wrong, and what it seems to be
// instead.
func (d Document) notJSON() error {
	if len(d.JSON) == 0 {
		return fmt.Errorf("the %s is empty, and JSON is expected", d.name)
	}
	where := ""
	var wrong *json.SyntaxError
	if errors.As(json.Unmarshal(d.JSON, &struct{}{}), &wrong) {
		where = fmt.Sprintf(", wrong at byte %d", wrong.Offset)
	}
	kind, _, _ := mime.ParseMediaType(http.DetectContentType(d.JSON))
	return failure.Withhold(d.JSON, "the %s of %d bytes is not JSON%s; it looks like %s", d.name, len(d.JSON), where, kind)
}

// lacks is the error of one without a value.
func (d Document) lacks(p JSONPath) error {
	return failure.Withhold(d.JSON, "the %s of %d bytes has no %s", d.name, len(d.JSON), p)
}

// kindOf describes a value by its type and size.
func kindOf(r gjson.Result) string {
	switch r.Type {
	case gjson.Null:
		return "null"
	case gjson.True, gjson.False:
		return "a boolean"
	case gjson.Number:
		return fmt.Sprintf("a number of %d bytes", len(r.Raw))
	case gjson.String:
		return fmt.Sprintf("a string of %d bytes", len(r.Str))
	}
	if r.IsArray() {
		return fmt.Sprintf("an array of %d bytes", len(r.Raw))
	}
	return fmt.Sprintf("an object of %d bytes", len(r.Raw))
}
