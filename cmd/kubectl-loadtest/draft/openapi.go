package draft

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
	doc, err := openapi3.NewLoader().LoadFromData(data) // it reads no other file or URL
	if err != nil {
		return nil, fmt.Errorf("the OpenAPI document cannot be read: %w", err)
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.") {
		return nil, fmt.Errorf("the OpenAPI document must have version 3, it has %q: convert it first", cmp.Or(doc.OpenAPI, "none"))
	}
	d := &Draft{Source: "an OpenAPI document"}
	if doc.Paths == nil {
		return nil, errors.New("the OpenAPI document has no paths")
	}
	base := d.server(doc)
	for _, path := range doc.Paths.InMatchingOrder() {
		item := doc.Paths.Find(path)
		operations := item.Operations()
		for _, method := range slices.Sorted(maps.Keys(operations)) {
			if operation := operations[method]; !operation.Deprecated && slices.Contains(methods, method) {
				d.Requests = append(d.Requests, request(doc, item, operation, method, base+path))
			}
		}
	}
	if len(d.Requests) == 0 {
		return nil, errors.New("the OpenAPI document has no operations")
	}
	d.Remarks = append(d.Remarks, "Values of parameters and bodies are examples of the document, or made up from its schemas:",
		"look at each. Requests that delete have weight 0: they are not sent.")
	return d, nil
}

// server takes the origin from the document's first server, and returns the path before
// all others.
func (d *Draft) server(doc *openapi3.T) string {
	if len(doc.Servers) == 0 {
		return ""
	}
	text := doc.Servers[0].URL
	for name, v := range doc.Servers[0].Variables {
		text = strings.ReplaceAll(text, "{"+name+"}", v.Default)
	}
	if origin, path, _, err := address(text); err == nil {
		d.Origin = origin
		return strings.TrimSuffix(path, "/")
	}
	if strings.HasPrefix(text, "/") {
		return strings.TrimSuffix(text, "/")
	}
	return ""
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
	query := url.Values{}
	for _, ref := range append(slices.Clone(item.Parameters), o.Parameters...) {
		if ref.Value != nil {
			r.parameter(ref.Value, query)
		}
	}
	r.Path = placeholder.ReplaceAllString(r.Path, "1") // parameters that the document does not describe
	if len(query) > 0 {
		r.Path += "?" + query.Encode()
	}
	r.body(o)
	r.security(doc, o)
	return r
}

// statuses are the documented ones from 200 to 399; none: each from 200 to 299 is good.
func statuses(o *openapi3.Operation) (list []int) {
	if o.Responses == nil {
		return nil
	}
	for code := range o.Responses.Map() {
		if n, err := strconv.Atoi(code); err == nil && n >= 200 && n < 400 {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list
}

// parameter writes a parameter to where it belongs. Those that need not be there are
// left out, unless they are of the path.
func (r *Request) parameter(p *openapi3.Parameter, query url.Values) {
	value := fmt.Sprint(parameterValue(p))
	switch {
	case p.In == "path":
		r.Path = strings.ReplaceAll(r.Path, "{"+p.Name+"}", url.PathEscape(value))
	case !p.Required:
	case p.In == "query":
		query.Set(p.Name, value)
	case p.In == "header":
		r.setHeader(header(p.Name, value))
	case p.In == "cookie":
		r.setHeader(header("Cookie", p.Name+"="+value))
	}
}

func parameterValue(p *openapi3.Parameter) any {
	if p.Example != nil {
		return p.Example
	}
	for _, name := range slices.Sorted(maps.Keys(p.Examples)) {
		if e := p.Examples[name].Value; e != nil && e.Value != nil {
			return e.Value
		}
	}
	return example(p.Schema)
}

// body writes the body of the operation: JSON if it may be, else a form.
func (r *Request) body(o *openapi3.Operation) {
	if o.RequestBody == nil || o.RequestBody.Value == nil {
		return
	}
	content := o.RequestBody.Value.Content
	for _, mime := range slices.Sorted(maps.Keys(content)) {
		if mime != "application/json" && !strings.HasSuffix(mime, "+json") {
			continue
		}
		data, err := json.Marshal(mediaValue(content[mime]))
		if err != nil {
			break
		}
		r.Body = string(data)
		r.setDefault("Content-Type", mime)
		return
	}
	if len(content) > 0 {
		r.Remark = join(r.Remark, "Its body is left out: only JSON can be made up here. The document has "+strings.Join(slices.Sorted(maps.Keys(content)), ", ")+".")
	}
}

func mediaValue(m *openapi3.MediaType) any {
	if m.Example != nil {
		return m.Example
	}
	for _, name := range slices.Sorted(maps.Keys(m.Examples)) {
		if e := m.Examples[name].Value; e != nil && e.Value != nil {
			return e.Value
		}
	}
	return example(m.Schema)
}

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
