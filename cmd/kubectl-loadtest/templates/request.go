package templates

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// request checks the templates of a request, and returns the names in them.
func (c *check) request(field string, r *v1beta1.Request) []string {
	h := r.HTTP
	if r.WebSocket != nil {
		return c.webSocket(field+".webSocket", r.WebSocket)
	}
	if h == nil {
		return c.call(field+".grpc", r.GRPC)
	}
	field += ".http"
	names := append(c.path(field+".path", h.Path), c.sentHeaders(field+".headers", h.Headers)...)
	names = append(names, c.template(field+".body", h.Body)...)
	for i := range h.Form {
		if value := h.Form[i].Value; value != nil {
			names = append(names, c.template(fmt.Sprintf("%s.form[%d].value", field, i), *value)...)
		}
	}
	if h.BodyFrom != nil && h.BodyFrom.ConfigMap != nil && len(h.Form) == 0 { // a field of a form has it as it is
		if body, known := c.keys(*h.BodyFrom.ConfigMap); known {
			names = append(names, c.template(field+".bodyFrom", string(body))...)
		}
	}
	if !expectsRefusal(r.Expect) {
		_, ofTarget := targetHeaders(c.spec, r)
		c.json(field, h, ofTarget)
	}
	return names
}

// webSocket checks the templates of a connection of WebSocket.
func (c *check) webSocket(field string, s *v1beta1.WebSocket) []string {
	names := append(c.path(field+".path", s.Path), c.sentHeaders(field+".headers", s.Headers)...)
	for i, message := range s.Send {
		names = append(names, c.template(fmt.Sprintf("%s.send[%d]", field, i), message)...)
	}
	return names
}

// call checks the templates of a call: the strings of its messages, and its metadata.
func (c *check) call(field string, call *v1beta1.Call) (names []string) {
	if call == nil {
		return nil
	}
	if call.Message != nil {
		names = append(names, c.message(field+".message", call.Message.Raw)...)
	}
	for i := range call.Messages {
		names = append(names, c.message(fmt.Sprintf("%s.messages[%d]", field, i), call.Messages[i].Raw)...)
	}
	return append(names, c.sentHeaders(field+".metadata", call.Metadata)...)
}

// message checks the strings of a message.
func (c *check) message(field string, raw []byte) []string {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return nil // the API server has read it
	}
	return c.value(field, value)
}

func (c *check) value(field string, value any) (names []string) {
	switch v := value.(type) {
	case string:
		return c.template(field, v)
	case []any:
		for i, below := range v {
			names = append(names, c.value(fmt.Sprintf("%s[%d]", field, i), below)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			names = append(names, c.value(field+"."+key, v[key])...)
		}
	}
	return names
}

// path checks a path, and the values of columns in it.
func (c *check) path(field, path string) []string {
	names := c.template(field, path)
	c.stand(field, names, (*source.Table).CheckInPath)
	return names
}

// sentHeaders checks the headers of a request, and the values of columns in them.
func (c *check) sentHeaders(field string, headers []v1beta1.Header) (names []string) {
	c.eachHeader(field, headers, func(at string, of []string) {
		c.stand(at, of, (*source.Table).CheckInHeader)
		names = append(names, of...)
	})
	return names
}

// headers checks headers that may be sent with no request of the mix.
func (c *check) headers(field string, headers []v1beta1.Header) {
	c.eachHeader(field, headers, func(string, []string) {})
}

// eachHeader checks the templates of headers, and hands over the field and the names of each.
func (c *check) eachHeader(field string, headers []v1beta1.Header, names func(field string, names []string)) {
	for i, h := range headers {
		if h.Value != nil {
			at := fmt.Sprintf("%s[%d].value", field, i)
			names(at, c.template(at, *h.Value))
		}
	}
}

// template checks a template, and returns the names in it.
func (c *check) template(field, template string) []string {
	names, _, err := source.Names(template)
	if err != nil {
		c.add(field, "%v", err)
		return nil
	}
	for _, name := range names {
		if c.complete && !c.columns[name] && !c.captured[name] {
			c.add(field, "nothing defines ${%s}%s", name, c.meant(name))
		}
	}
	return names
}

// meant says what a name that nothing defines may mean.
func (c *check) meant(name string) string {
	known := []string{"user", "seq", "worker", "uuid"}
	for _, names := range []map[string]bool{c.columns, c.captured} {
		known = append(known, slices.Sorted(maps.Keys(names))...)
	}
	if like := text.MostAlike(name, known); like != "" {
		return "; did you mean ${" + like + "}?"
	}
	return "; known are ${" + strings.Join(known, "}, ${") + "} and ${rand:a-b}; write $$ for a dollar sign"
}

// json checks that a body is JSON if its Content-Type says so. Of a body in which a column stands outside of a string nothing is
// known: its cells may be parts of JSON.
func (c *check) json(field string, r *v1beta1.HTTPRequest, ofTarget []v1beta1.Header) {
	if r.Body == "" || !saysJSON(r, ofTarget) {
		return
	}
	names, sample, err := source.Names(r.Body)
	if err != nil || hasBareName(r.Body, names) {
		return
	}
	if err := readJSON(sample); err != nil {
		c.add(field+".body", "is no JSON, as its Content-Type says it is: %v", err)
	}
}

// readJSON reads one value, or several, one after another, as bulk interfaces take them.
func readJSON(body string) error {
	in := json.NewDecoder(strings.NewReader(body))
	for {
		var value json.RawMessage
		switch err := in.Decode(&value); err {
		case nil:
		case io.EOF:
			return nil
		default:
			return err
		}
	}
}

// hasBareName says whether a variable of a name stands outside of the strings of a body.
func hasBareName(body string, names []string) bool {
	inside := false
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '\\':
			i++
		case '"':
			inside = !inside
		case '$':
			if !inside && slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(body[i:], "${"+name+"}") }) {
				return true
			}
		}
	}
	return false
}

// saysJSON says whether the Content-Type of a request is that of JSON: its own, or its target's.
func saysJSON(r *v1beta1.HTTPRequest, ofTarget []v1beta1.Header) bool {
	for _, headers := range [][]v1beta1.Header{r.Headers, ofTarget} {
		for _, h := range headers {
			if strings.EqualFold(h.Name, "Content-Type") {
				media := ""
				if h.Value != nil {
					media, _, _ = strings.Cut(strings.ToLower(*h.Value), ";")
				}
				media = strings.TrimSpace(media)
				return media == "application/json" || strings.HasSuffix(media, "+json")
			}
		}
	}
	return false
}

// expectsRefusal says whether a status from 400 to 499 is expected.
func expectsRefusal(e *v1beta1.Expectation) bool {
	return e != nil && slices.ContainsFunc(e.Status, func(status int32) bool { return status >= 400 && status < 500 })
}
