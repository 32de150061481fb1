package draft

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// parameter writes a parameter to where it belongs. Those that need not be there are
// left out, unless they are of the path.
func (r *Request) parameter(p *openapi3.Parameter, query url.Values) {
	switch {
	case p.In == "path":
		before := map[string]string{"label": ".", "matrix": ";" + p.Name + "="}[p.Style]
		r.Path = strings.ReplaceAll(r.Path, "{"+p.Name+"}", before+pathEscape(simple(p)))
	case !p.Required:
	case p.In == "query":
		addQuery(p, query)
	case p.In == "header" && !slices.Contains([]string{"accept", "content-type"}, strings.ToLower(p.Name)): // OpenAPI ignores these
		r.setHeader(header(p.Name, simple(p)))
	case p.In == "cookie":
		r.setHeader(header("Cookie", p.Name+"="+simple(p)))
	}
}

// pathEscape leaves the commas between the values of a list.
func pathEscape(text string) string { return strings.ReplaceAll(url.PathEscape(text), "%2C", ",") }

// explodes says whether each part of a value has a name of its own.
func explodes(p *openapi3.Parameter) bool {
	if p.Explode != nil {
		return *p.Explode
	}
	return (p.In == "query" || p.In == "cookie") && (p.Style == "" || p.Style == "form")
}

// simple is a value in one text, in the style of that name.
func simple(p *openapi3.Parameter) string {
	switch v := parameterValue(p).(type) {
	case []any:
		return strings.Join(texts(v), ",")
	case map[string]any:
		between := ","
		if explodes(p) {
			between = "="
		}
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, name+between+plainText(v[name]))
		}
		return strings.Join(parts, ",")
	default:
		return plainText(v)
	}
}

// addQuery adds a parameter of the query, in its style.
func addQuery(p *openapi3.Parameter, query url.Values) {
	switch v := parameterValue(p).(type) {
	case []any:
		if explodes(p) {
			query[p.Name] = texts(v)
			return
		}
		separator := cmp.Or(map[string]string{"spaceDelimited": " ", "pipeDelimited": "|"}[p.Style], ",")
		query.Set(p.Name, strings.Join(texts(v), separator))
	case map[string]any:
		if p.Style != "deepObject" && !explodes(p) {
			query.Set(p.Name, simple(p))
			return
		}
		for name, part := range v {
			if p.Style == "deepObject" {
				name = p.Name + "[" + name + "]"
			}
			query.Set(name, plainText(part))
		}
	default:
		query.Set(p.Name, plainText(v))
	}
}

func texts(list []any) []string {
	all := make([]string, len(list))
	for i, v := range list {
		all[i] = plainText(v)
	}
	return all
}

// plainText is a value as it is written in a URL: a text without quotes, a number with all its digits, and an object as
// JSON.
func plainText(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []any, map[string]any:
		data, err := json.Marshal(v)
		if err == nil {
			return string(data)
		}
	}
	return fmt.Sprint(value)
}

func parameterValue(p *openapi3.Parameter) any {
	for _, mime := range slices.Sorted(maps.Keys(p.Content)) {
		value := mediaValue(p.Content[mime])
		if text, ok := value.(string); ok {
			return text
		}
		data, err := json.Marshal(value)
		if err == nil {
			return string(data)
		}
	}
	return firstValue(p.Example, p.Examples, p.Schema)
}

// firstValue is an example, else the first that has a name, else one of the schema.
func firstValue(one any, more openapi3.Examples, schema *openapi3.SchemaRef) any {
	if one != nil {
		return one
	}
	for _, name := range slices.Sorted(maps.Keys(more)) {
		if e := more[name].Value; e != nil && e.Value != nil {
			return e.Value
		}
	}
	return example(schema)
}
