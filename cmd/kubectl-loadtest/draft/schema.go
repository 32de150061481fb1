package draft

import (
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Schemas may contain themselves: a value that is made up goes so deep at most, and has at
// most so many parts.
const (
	deepest = 6
	most    = 1000
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
	case len(s.AllOf) > 0:
		return m.merged(s, depth)
	case len(s.OneOf) > 0:
		return m.example(s.OneOf[0], depth+1)
	case len(s.AnyOf) > 0:
		return m.example(s.AnyOf[0], depth+1)
	case s.Type.Includes("object") || len(s.Properties) > 0:
		return m.objectExample(s, depth)
	case s.Type.Includes("array"):
		return []any{m.example(s.Items, depth+1)}
	case s.Type.Includes("integer"), s.Type.Includes("number"):
		return numberExample(s)
	case s.Type.Includes("boolean"):
		return true
	}
	return stringExample(s)
}

// stated is a value that the schema has itself.
func stated(s *openapi3.Schema) (value any, ok bool) {
	switch {
	case s.Example != nil:
		return s.Example, true
	case s.Default != nil:
		return s.Default, true
	case len(s.Enum) > 0:
		return s.Enum[0], true
	}
	return nil, false
}

// merged has the properties of all parts of allOf.
func (m *maker) merged(s *openapi3.Schema, depth int) any {
	all := map[string]any{}
	var last any
	for _, part := range append(slices.Clone(s.AllOf), &openapi3.SchemaRef{Value: &openapi3.Schema{Properties: s.Properties, Required: s.Required}}) {
		if part.Value == nil || part.Ref == "" && len(part.Value.Properties) == 0 && part.Value.Type == nil && len(part.Value.AllOf) == 0 {
			continue
		}
		last = m.example(part, depth+1)
		if fields, ok := last.(map[string]any); ok {
			maps.Copy(all, fields)
		}
	}
	if len(all) == 0 {
		return last
	}
	return all
}

// objectExample has the required properties, and all of them if none is.
func (m *maker) objectExample(s *openapi3.Schema, depth int) any {
	value := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		if property.Value != nil && property.Value.ReadOnly {
			continue
		}
		if len(s.Required) == 0 || slices.Contains(s.Required, name) {
			if v := m.example(property, depth+1); v != nil {
				value[name] = v
			}
		}
	}
	return value
}

func numberExample(s *openapi3.Schema) any {
	if s.Min != nil && *s.Min > 1 {
		return *s.Min
	}
	if s.Max != nil && *s.Max < 1 {
		return *s.Max
	}
	return 1
}

// formats are texts of the formats that schemas name.
var formats = map[string]string{
	"uuid": "3fa85f64-5717-4562-b3fc-2c963f66afa6", "date": "2026-01-31", "date-time": "2026-01-31T12:00:00Z",
	"email": "user@example.com", "uri": "https://example.com/", "url": "https://example.com/", "hostname": "example.com",
	"ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "byte": "aGVsbG8=",
}

func stringExample(s *openapi3.Schema) string {
	value, ok := formats[s.Format]
	if !ok {
		value = "text"
	}
	if n := int(s.MinLength) - len(value); n > 0 && n < maxValue {
		value += strings.Repeat("x", n)
	}
	if s.MaxLength != nil && len(value) > int(*s.MaxLength) {
		value = value[:*s.MaxLength]
	}
	return value
}
