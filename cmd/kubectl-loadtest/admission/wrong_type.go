package admission

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/metric"
)

// wrongType says what is wrong with a value that is of another type than its field, and how it
// is written rightly; "" if there is nothing to say.
func (a *Admission) wrongType(path string, object map[string]any, written Written) string {
	s, value := a.at(path), valueAt(object, path)
	if s == nil || value == nil {
		return ""
	}
	like := spelled(path, value, written)
	if s.XIntOrString {
		return "must be a whole number, or a text" + asText(path, object, value, like)
	}
	switch s.Type {
	case "array":
		return "must be a list" + listOf(s.Items, value, like)
	case "string":
		return wrongText(s, value, like)
	case "integer":
		return "must be a whole number" + unquoted(value)
	case "boolean":
		return "must be true or false, without quotes"
	case "object":
		return wrongObject(s, value)
	}
	return ""
}

// spelled is a value as the user wrote it, or else as JSON; "" if it is long.
func spelled(path string, value any, written Written) string {
	data, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	like := string(data)
	switch value.(type) {
	case int64, float64, bool:
		if written == nil {
			break
		}
		if as, ok := written(path); ok {
			like = as
		}
	}
	const short = 40 // bytes: what is longer is no help in a sentence
	if len(like) > short {
		return ""
	}
	return like
}

// asText is how a number is written as a text; in a limit of a metric, with its unit.
func asText(path string, object map[string]any, value any, like string) string {
	if isLimit.MatchString(path) {
		return withUnitOf(valueAt(object, isLimit.ReplaceAllString(path, "$1.metric")), value, like)
	}
	return quoted(value, like)
}

func wrongText(s *schema.Structural, value any, like string) string {
	if isTime(s) {
		return "must be a time with its unit" + withUnit(value)
	}
	return "must be a text" + quoted(value, like)
}

func wrongObject(s *schema.Structural, value any) string {
	switch {
	case isRange(s) && isTimeText(value):
		return fmt.Sprintf("must have min and max; write {min: %[1]v, max: %[1]v} for %[1]v each time", value)
	case len(s.Properties) > 0:
		return withFields(s, value)
	}
	return ""
}

// isRange says whether an object has a least and a greatest time, and nothing else.
func isRange(s *schema.Structural) bool {
	_, least := s.Properties["min"]
	_, most := s.Properties["max"]
	return least && most && len(s.Properties) == 2
}

func isTimeText(value any) bool {
	written, isText := value.(string)
	_, err := time.ParseDuration(written)
	return isText && err == nil
}

// isLimit is the path of a threshold's limit, whose beginning is that of the threshold.
var isLimit = regexp.MustCompile(`^(.*\.thresholds\[\d+\])\.(max|min)$`)

// withUnitOf is how a number is written as a limit of a metric.
func withUnitOf(name, value any, like string) string {
	written, isText := name.(string)
	number, isNumber := value.(float64)
	m := metric.Of(v1beta1.Metric(written))
	plain := strconv.FormatFloat(number, 'f', -1, 64)
	switch {
	case !isText || !isNumber || m.Measured == nil:
	case m.Unit == metric.Share:
		return fmt.Sprintf("; write %s%% for %[1]s percent", plain)
	case m.Unit == metric.Latency:
		return fmt.Sprintf("; write %sms for %[1]s milliseconds", plain)
	}
	return quoted(value, like)
}

// withFields says which fields an object must have, or may have if it needs none.
func withFields(s *schema.Structural, value any) string {
	fields := slices.Sorted(maps.Keys(s.Properties))
	if s.ValueValidation != nil && len(s.ValueValidation.Required) > 0 {
		fields = slices.Sorted(slices.Values(s.ValueValidation.Required))
	}
	said := "must have fields: " + strings.Join(fields, ", ")
	if _, isList := value.([]any); isList {
		said = "must not be a list; it has fields: " + strings.Join(fields, ", ")
	}
	return said
}

// isTime says whether a text is a time.
func isTime(s *schema.Structural) bool {
	return slices.ContainsFunc(s.XValidations, func(r apiextensionsv1.ValidationRule) bool {
		return strings.Contains(r.Rule, "duration(self)")
	})
}

// withUnit is how a number above 0 is written as a time, in seconds.
func withUnit(value any) string {
	if seconds, isWhole := value.(int64); isWhole && seconds > 0 {
		return fmt.Sprintf("; write %ds for %d seconds", seconds, seconds)
	}
	if seconds, isFraction := value.(float64); isFraction && seconds > 0 {
		return fmt.Sprintf("; write %[1]ss for %[1]s seconds", strconv.FormatFloat(seconds, 'f', -1, 64))
	}
	return ""
}

// wrongBeginning says with which sign a text must begin that lacks nothing else of the form
// of its field; "" if that is not what is wrong.
func (a *Admission) wrongBeginning(path string, object map[string]any) string {
	s := a.at(path)
	value, isText := valueAt(object, path).(string)
	if s == nil || s.ValueValidation == nil || s.ValueValidation.Pattern == "" || !isText {
		return ""
	}
	form, err := regexp.Compile(s.ValueValidation.Pattern)
	if err != nil || form.MatchString(value) {
		return ""
	}
	for _, sign := range []string{".", "/"} {
		if form.MatchString(sign + value) {
			return fmt.Sprintf("must begin with %q; write %s", sign, sign+value)
		}
	}
	return ""
}

// quoted is how a number or a truth value is written as a text.
func quoted(value any, like string) string {
	switch value.(type) {
	case int64, float64, bool:
		return fmt.Sprintf("; write \"%s\", with quotes", like)
	}
	return ""
}

// unquoted is how a whole number in quotes is written as a number.
func unquoted(value any) string {
	written, isText := value.(string)
	if n, err := strconv.ParseInt(written, 10, 64); isText && err == nil {
		return fmt.Sprintf("; write %d, without quotes", n)
	}
	return ""
}

// listOf is how one item is written as a list, if the value is of the type of the items.
func listOf(items *schema.Structural, value any, like string) string {
	if items == nil || like == "" || !isOf(items.Type, value) {
		return ""
	}
	return fmt.Sprintf("; write [%s]", like)
}

func isOf(kind string, value any) bool {
	switch value.(type) {
	case int64:
		return kind == "integer"
	case string:
		return kind == "string"
	case map[string]any:
		return kind == "object"
	}
	return false
}

// valueAt is what an object has at a path; nil if there is nothing.
func valueAt(object map[string]any, path string) any {
	var value any = object
	for _, name := range segments(path) {
		switch v := value.(type) {
		case map[string]any:
			value = v[strings.Trim(name, "[]")]
		case []any:
			i, err := strconv.Atoi(strings.Trim(name, "[]"))
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}
