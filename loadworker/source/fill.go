package source

import "github.com/loadtest-dev/loadtest-operator/loadworker/message"

// form is a message whose JSON is a template. Where its pattern fits the values, the JSON is
// never written.
type form struct {
	json    *Template
	pattern *message.Pattern
}

func newForm(m *message.Method, json *Template) form {
	variables := 0
	for i := range json.parts {
		if json.parts[i].kind != none {
			variables++
		}
	}
	return form{json, m.Pattern(variables, func(v *message.Values) []byte { return json.appendJSON(nil, v) })}
}

// fill appends the message of a form.
func (b *Buffer) fill(to []byte, m *message.Method, f *form, v Vars) ([]byte, error) {
	b.values.Text, b.values.Ends = b.values.Text[:0], b.values.Ends[:0]
	for i := range f.json.parts {
		if p := &f.json.parts[i]; p.kind != none {
			b.values.Text = p.appendValue(b.values.Text, v, &b.random, b.rows)
			b.values.Ends = append(b.values.Ends, len(b.values.Text))
		}
	}
	before := len(to)
	to, ok := f.pattern.Append(to, &b.values)
	if ok {
		return to, nil
	}
	b.json = f.json.appendJSON(b.json[:0], &b.values)
	return m.Encode(to[:before], b.json)
}

// appendJSON appends the text with values that stand within strings of JSON.
func (t *Template) appendJSON(dst []byte, v *message.Values) []byte {
	next := 0
	for i := range t.parts {
		dst = append(dst, t.parts[i].literal...)
		if t.parts[i].kind != none {
			dst = appendJSON(dst, v.At(next))
			next++
		}
	}
	return dst
}
