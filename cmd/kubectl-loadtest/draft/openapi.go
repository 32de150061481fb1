package draft

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// The weights of a first mix: services are read more often than written.
const (
	readWeight  = 4
	writeWeight = 1
)

// FromOpenAPI reads the operations of an OpenAPI document, version 3, in JSON or YAML.
// What parameters and bodies must have is taken from examples, else made from schemas.
func FromOpenAPI(data []byte) (*Draft, error) {
	doc, err := readOpenAPI(data)
	if err != nil {
		return nil, err
	}
	d := &Draft{Source: "an OpenAPI document"}
	if doc.Paths == nil {
		return nil, errors.New("the OpenAPI document has no paths")
	}
	var elsewhere []string
	d.Origin, _ = server(doc.Servers)
	for _, path := range doc.Paths.InMatchingOrder() {
		item := doc.Paths.Find(path)
		operations := item.Operations()
		for _, method := range slices.Sorted(maps.Keys(operations)) {
			operation := operations[method]
			if operation.Deprecated || !slices.Contains(methods, method) {
				continue
			}
			origin, base := server(doc.Servers, item.Servers, deref(operation.Servers))
			if d.Origin = cmp.Or(d.Origin, origin); origin != d.Origin && origin != "" {
				elsewhere = append(elsewhere, origin)
				continue
			}
			d.Requests = append(d.Requests, request(doc, item, operation, method, base+path))
		}
	}
	d.leftOut(0, elsewhere)
	if len(d.Requests) == 0 {
		return nil, errors.New("the OpenAPI document has no operations")
	}
	d.Remarks = append(d.Remarks, "Values of parameters and bodies are examples of the document, or made up from its schemas:",
		"look at each. Requests that delete have weight 0: they are not sent.")
	return d, nil
}

func deref(servers *openapi3.Servers) openapi3.Servers {
	if servers == nil {
		return nil
	}
	return *servers
}

// server is the origin of the first server, and the path before all others. Of the lists, which are of the document,
// a path and an operation, the last one that is not empty counts.
func server(lists ...openapi3.Servers) (origin, base string) {
	var first *openapi3.Server
	for _, list := range lists {
		if len(list) > 0 {
			first = list[0]
		}
	}
	if first == nil {
		return "", ""
	}
	text := first.URL
	for name, v := range first.Variables {
		text = strings.ReplaceAll(text, "{"+name+"}", v.Default)
	}
	if strings.HasPrefix(text, "//") { // the scheme is that of the document
		text = "https:" + text
	}
	if origin, path, _, err := address(text); err == nil {
		return origin, strings.TrimSuffix(path, "/")
	}
	if strings.HasPrefix(text, "/") {
		return "", strings.TrimSuffix(text, "/")
	}
	return "", ""
}

// placeholder is a parameter in a path.
var placeholder = regexp.MustCompile(`\{[^}]*\}`)

func request(doc *openapi3.T, item *openapi3.PathItem, o *openapi3.Operation, method, path string) Request {
	r := Request{Name: o.OperationID, Method: method, Path: path, Weight: writeWeight, Remark: firstLine(o.Summary), Status: statuses(o)}
	switch method {
	case "GET", "HEAD", "OPTIONS":
		r.Weight = readWeight
	case "DELETE":
		r.Weight = 0
	}
	r.Path, _, _ = strings.Cut(r.Path, "#") // documents of AWS tell operations of one path apart so
	query := url.Values{}
	for _, ref := range append(slices.Clone(o.Parameters), item.Parameters...) {
		// One of the operation overrides one of the path.
		if p := ref.Value; p != nil && (slices.Contains(o.Parameters, ref) || o.Parameters.GetByInAndName(p.In, p.Name) == nil) {
			r.parameter(p, query)
		}
	}
	r.Path = placeholder.ReplaceAllString(r.Path, "1") // parameters that the document does not describe
	if len(query) > 0 {
		separator := "?"
		if strings.Contains(r.Path, "?") {
			separator = "&"
		}
		r.Path += separator + query.Encode()
	}
	r.body(o)
	r.security(doc, o)
	return r
}

// statuses are the documented ones from 200 to 399; none: each from 200 to 299 is good. 304 is left out, as what it is
// the answer to is not sent.
func statuses(o *openapi3.Operation) (list []int) {
	if o.Responses == nil {
		return nil
	}
	for code := range o.Responses.Map() {
		n, err := strconv.Atoi(code)
		switch {
		case strings.EqualFold(code, "2XX"):
			return nil
		case err == nil && n >= 200 && n < 400 && n != http.StatusNotModified:
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list
}

// body writes the body of the operation: JSON if it may be, else a form.
func (r *Request) body(o *openapi3.Operation) {
	if o.RequestBody == nil || o.RequestBody.Value == nil {
		return
	}
	content := o.RequestBody.Value.Content
	types := slices.SortedFunc(maps.Keys(content), func(a, b string) int { return cmp.Or(preference(a)-preference(b), cmp.Compare(a, b)) })
	if len(types) == 0 {
		return
	}
	first, body, ok := types[0], "", false
	switch media := content[first]; preference(first) {
	case otherType:
	case formType:
		body, ok = formBody(media)
	default:
		body, ok = jsonBody(media)
	}
	if !ok {
		r.Remark = join(r.Remark, "Its body is left out: only JSON and plain forms can be made up here. The document has "+strings.Join(slices.Sorted(maps.Keys(content)), ", ")+".")
		return
	}
	if r.Body = body; strings.Contains(first, "*") {
		first = "application/json"
	}
	r.setDefault("Content-Type", first)
}

// Types of content, the best one first.
const (
	jsonType = iota
	jsonLike
	anyType
	formType
	otherType
)

// preference is which of those a type of content is, whatever its parameters.
func preference(of string) int {
	name, _, _ := strings.Cut(strings.ToLower(of), ";")
	switch name = strings.TrimSpace(name); {
	case name == "application/json":
		return jsonType
	case strings.Contains(name, "*") && (strings.HasSuffix(name, "+json") || name == "*/*" || name == "application/*"):
		return anyType
	case strings.HasSuffix(name, "+json") || name == "text/json":
		return jsonLike
	case name == "application/x-www-form-urlencoded":
		return formType
	}
	return otherType
}

// jsonBody is a body of JSON. An example may be the text of one.
func jsonBody(media *openapi3.MediaType) (string, bool) {
	value := mediaValue(media)
	isText := media.Schema != nil && media.Schema.Value != nil && media.Schema.Value.Type.Is("string")
	if text, ok := value.(string); ok && !isText && json.Valid([]byte(text)) {
		return strings.TrimSpace(text), true
	}
	if value == nil { // the document says nothing of it
		return "{}", true
	}
	data, err := json.Marshal(value)
	return string(data), err == nil
}

// formBody is a form with a field for each property, and for each item of a list.
func formBody(media *openapi3.MediaType) (string, bool) {
	object, ok := mediaValue(media).(map[string]any)
	fields := url.Values{}
	for name, value := range object {
		if list, isList := value.([]any); isList {
			fields[name] = texts(list)
			continue
		}
		fields.Set(name, plainText(value))
	}
	return fields.Encode(), ok
}

func mediaValue(m *openapi3.MediaType) any { return firstValue(m.Example, m.Examples, m.Schema) }

// security adds the header of the first scheme that the operation, or the document, asks
// for.
func (r *Request) security(doc *openapi3.T, o *openapi3.Operation) {
	wanted := doc.Security
	if o.Security != nil {
		wanted = *o.Security
	}
	if len(wanted) == 0 || doc.Components == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(wanted[0])) {
		ref := doc.Components.SecuritySchemes[name]
		if ref == nil || ref.Value == nil {
			continue
		}
		switch s := ref.Value; {
		case s.Type == "apiKey" && s.In == "header":
			r.setHeader(Header{Name: s.Name, Secret: true})
		case s.Type == "apiKey" && s.In == "cookie":
			r.setHeader(Header{Name: "Cookie", Secret: true, Prefix: s.Name + "="})
		case s.Type == "http" && strings.EqualFold(s.Scheme, "basic"):
			r.setHeader(Header{Name: "Authorization", Secret: true, Prefix: "Basic "})
		case s.Type == "http", s.Type == "oauth2", s.Type == "openIdConnect":
			r.setHeader(Header{Name: "Authorization", Secret: true, Prefix: "Bearer "})
		default:
			r.Remark = join(r.Remark, fmt.Sprintf("Security scheme %s (%s in %s) is left out.", name, s.Type, s.In))
		}
	}
}

func firstLine(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return text
}
