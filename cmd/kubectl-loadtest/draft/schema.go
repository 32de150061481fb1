package draft

import (
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Schemas may contain themselves: a value that is made up goes so deep at most, and has at
// most so many parts.
const (
	deepest   = 6
	most      = 1000
	mostItems = 16
)

// maker makes up a value.
type maker struct{ parts int }

// example is a value that a schema allows: its example, its default, the first of an
// enumeration, else the plainest one of its type.
func example(ref *openapi3.SchemaRef) any { return (&maker{}).example(ref, 0) }

func (m *maker) example(ref *openapi3.SchemaRef, depth int) any {
	m.parts++
	if ref == nil || ref.Value == nil || depth > deepest || m.parts > most {
		return nil
	}
	s := ref.Value
	if value, ok := stated(s); ok {
		return value
	}
	switch {
	case len(s.AllOf)+len(s.OneOf)+len(s.AnyOf) > 0 || s.Discriminator != nil:
		return m.composed(ref, depth)
	case hasFields(s):
		return m.objectExample(s, depth)
	case s.Type.Includes("array"):
		return m.arrayExample(s, depth)
	case s.Type.Includes("integer"), s.Type.Includes("number"):
		return numberExample(s)
	case s.Type.Includes("boolean"):
		return true
	}
	return stringExample(s)
}

func hasFields(s *openapi3.Schema) bool { return s.Type.Includes("object") || len(s.Properties) > 0 }

// stated is a value that the schema has itself, but no default without fields, which says nothing of them. In YAML, a text of digits is often written without quotes.
func stated(s *openapi3.Schema) (value any, ok bool) {
	fields, isMap := s.Default.(map[string]any)
	switch {
	case s.Example != nil:
		value = s.Example
	case s.Default != nil && (!isMap || len(fields) > 0):
		value = s.Default
	default:
		at := slices.IndexFunc(s.Enum, func(v any) bool { return v != nil })
		if at < 0 {
			return nil, false
		}
		value = s.Enum[at]
	}
	switch value.(type) {
	case float64, bool:
		if s.Type.Is("string") {
			value = plainText(value)
		}
	}
	return value, true
}

// composition is what the parts of a schema say together.
type composition struct {
	fields   openapi3.Schema     // the properties, and which are required
	values   map[string]any      // examples of parts that are objects
	other    *openapi3.SchemaRef // the first part that is no object
	selector *openapi3.Discriminator
	ref      string // of the schema that the selector is to choose
	isObject bool   // is said by a part
}

// composed is a value of allOf, and of the first of oneOf and of anyOf, with the properties beside them.
func (m *maker) composed(ref *openapi3.SchemaRef, depth int) any {
	c := composition{values: map[string]any{}, ref: ref.Ref, fields: openapi3.Schema{Properties: openapi3.Schemas{}}}
	m.collect(ref.Value, &c, depth, false)
	if len(c.fields.Properties) == 0 && len(c.values) == 0 {
		if c.other != nil {
			return m.example(c.other, depth+1)
		}
		if !c.isObject {
			return m.example(&openapi3.SchemaRef{Value: &openapi3.Schema{Type: ref.Value.Type, Format: ref.Value.Format}}, depth+1)
		}
	}
	value := m.objectExample(&c.fields, depth)
	maps.Copy(value, c.values)
	c.choose(value)
	return value
}

// collect adds a schema and its parts. isBase says that it is a part of allOf: one that lists the schemas that have it as
// their base, and chooses between them, adds none of those.
func (m *maker) collect(s *openapi3.Schema, c *composition, depth int, isBase bool) {
	if m.parts++; m.parts > most || depth > deepest {
		return
	}
	maps.Copy(c.fields.Properties, s.Properties)
	c.isObject = c.isObject || s.Type.Includes("object")
	c.fields.Required = append(c.fields.Required, s.Required...)
	for _, part := range s.AllOf {
		m.collectPart(part, c, depth+1, true)
	}
	if s.Discriminator == nil || !isBase {
		for _, choices := range []openapi3.SchemaRefs{s.OneOf, s.AnyOf} {
			if at := slices.IndexFunc(choices, func(r *openapi3.SchemaRef) bool { return r.Value != nil && !r.Value.Type.Is("null") }); at >= 0 {
				c.selects(s, choices[at].Ref)
				m.collectPart(choices[at], c, depth+1, false)
			}
		}
	}
	c.selects(s, c.ref)
}

// selects keeps the first of the discriminators, and the schema that it is to choose.
func (c *composition) selects(s *openapi3.Schema, ref string) {
	if s.Discriminator != nil && c.selector == nil {
		c.selector, c.ref = s.Discriminator, ref
	}
}

func (m *maker) collectPart(part *openapi3.SchemaRef, c *composition, depth int, isBase bool) {
	s := part.Value
	if s == nil {
		return
	}
	value, ok := stated(s)
	fields, isMap := value.(map[string]any)
	isPlain := s.Type != nil && !hasFields(s)
	switch {
	case ok && isMap:
		maps.Copy(c.values, fields)
	case ok || isPlain:
		if c.other == nil {
			c.other = part
		}
	default:
		m.collect(s, c, depth, isBase)
	}
}

// choose sets the property that says which schema a value has: as the mapping names it, or by the name of the schema
// unless the property has a value of its own.
func (c *composition) choose(value map[string]any) {
	if c.selector == nil || c.ref == "" {
		return
	}
	property, schema := c.selector.PropertyName, path.Base(c.ref)
	for _, name := range slices.Sorted(maps.Keys(c.selector.Mapping)) {
		if path.Base(c.selector.Mapping[name]) == schema {
			value[property] = name
			return
		}
	}
	if of := c.fields.Properties[property]; of != nil && of.Value != nil {
		if own, ok := stated(of.Value); ok && !slices.Contains(of.Value.Enum, any(schema)) {
			value[property] = own
			return
		}
	}
	value[property] = schema
}

// objectExample has the required properties, and all of them if none is.
func (m *maker) objectExample(s *openapi3.Schema, depth int) map[string]any {
	value := map[string]any{}
	isAny := !slices.ContainsFunc(s.Required, func(name string) bool { return s.Properties[name] != nil })
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		if property.Value != nil && property.Value.ReadOnly {
			continue
		}
		if isAny || slices.Contains(s.Required, name) {
			if v := m.example(property, depth+1); v != nil {
				value[name] = v
			}
		}
	}
	return value
}

// arrayExample has one item, or as many as there must be. Where the value ends, there is none.
func (m *maker) arrayExample(s *openapi3.Schema, depth int) []any {
	list := []any{}
	if depth+1 >= deepest && s.Items != nil && s.Items.Value != nil && hasFields(s.Items.Value) {
		return list // there would be no fields in it
	}
	for range min(max(s.MinItems, 1), mostItems) {
		if item := m.example(s.Items, depth+1); item != nil {
			list = append(list, item)
		}
	}
	return list
}

// numberExample is 1, or what is nearest within the bounds.
func numberExample(s *openapi3.Schema) any {
	step := 1.0
	if s.MultipleOf != nil && *s.MultipleOf > 0 {
		step = *s.MultipleOf
	}
	value := step
	if s.Min != nil && (*s.Min > value || s.ExclusiveMin && *s.Min == value) {
		if value = math.Ceil(*s.Min/step) * step; s.ExclusiveMin && value == *s.Min {
			value += step
		}
	}
	if s.Max != nil && (*s.Max < value || s.ExclusiveMax && *s.Max == value) {
		value = greatest(s, step)
	}
	return value
}

// greatest is the greatest multiple of a step within the bounds, else what is in the middle of them.
func greatest(s *openapi3.Schema, step float64) float64 {
	value := math.Floor(*s.Max/step) * step
	if s.ExclusiveMax && value == *s.Max {
		value -= step
	}
	if s.Min != nil && value < *s.Min {
		return (*s.Min + *s.Max) / 2
	}
	return value
}

// formats are texts of the formats that schemas name.
var formats = map[string]string{
	"uuid": "3fa85f64-5717-4562-b3fc-2c963f66afa6", "date": "2026-01-31", "date-time": "2026-01-31T12:00:00Z",
	"email": "user@example.com", "uri": "https://example.com/", "url": "https://example.com/", "hostname": "example.com",
	"ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "byte": "aGVsbG8=",
}

func stringExample(s *openapi3.Schema) string {
	if text, ok := matching(s.Pattern, int(min(s.MinLength, maxValue))); ok && s.Pattern != "" && (s.MaxLength == nil || uint64(len(text)) <= *s.MaxLength) {
		return text
	}
	value, ok := formats[s.Format]
	if !ok {
		value = "text"
	}
	if n := int(s.MinLength) - len(value); n > 0 && n < maxValue {
		value += strings.Repeat("x", n)
	}
	if s.MaxLength != nil && uint64(len(value)) > *s.MaxLength {
		value = value[:*s.MaxLength]
	}
	return value
}
