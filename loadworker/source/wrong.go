package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"

	"github.com/tidwall/gjson"

	"github.com/loadtest-dev/loadtest-operator/loadworker/failure"
)

// notJSON is the error of a body that is no JSON: where it goes wrong, and what it seems
// to be instead.
func notJSON(body []byte) error {
	if len(body) == 0 {
		return errors.New("the body is empty, and JSON is expected")
	}
	where := ""
	var wrong *json.SyntaxError
	if errors.As(json.Unmarshal(body, &struct{}{}), &wrong) {
		where = fmt.Sprintf(", wrong at byte %d", wrong.Offset)
	}
	kind, _, _ := mime.ParseMediaType(http.DetectContentType(body))
	return failure.Withhold(body, "the body of %d bytes is no JSON%s; it looks like %s", len(body), where, kind)
}

// lacks is the error of a body without a value.
func lacks(body []byte, p JSONPath) error {
	return failure.Withhold(body, "the body of %d bytes has no %s", len(body), p)
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
