package draft

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"go.yaml.in/yaml/v3"
)

// readOpenAPI reads a document of version 3. The loader knows version 3.0: what 3.1 writes in another way is
// rewritten before. It reads no other file or URL.
func readOpenAPI(data []byte) (*openapi3.T, error) {
	document, err := decodeDocument(data)
	if err != nil {
		return nil, fmt.Errorf("the OpenAPI document cannot be read: %w", err)
	}
	version := cmp.Or(plainText(document["openapi"]), plainText(document["swagger"]), "none")
	if !strings.HasPrefix(version+".", "3.") {
		return nil, fmt.Errorf("the OpenAPI document must have version 3, it has %q: convert it first", version)
	}
	document["openapi"] = version
	delete(document, "info") // it says nothing of requests, and its version is often written as a number
	data, err = json.Marshal(downgrade(document, false))
	if err != nil {
		return nil, fmt.Errorf("the OpenAPI document cannot be read: %w", err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(data)
	if err != nil {
		return nil, fmt.Errorf("the OpenAPI document cannot be read: %w", err)
	}
	return doc, nil
}

// decodeDocument reads JSON or YAML. Of YAML, dates are texts, as in JSON, and so are all keys.
func decodeDocument(data []byte) (document map[string]any, err error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if json.Valid(data) {
		return document, json.Unmarshal(data, &document)
	}
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return nil, err
	}
	asTexts(&root)
	return document, root.Decode(&document)
}

func asTexts(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!timestamp" {
		n.Tag = "!!str"
	}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && child.Kind == yaml.ScalarNode && child.Tag != "!!merge" {
			child.Tag = "!!str"
		}
		asTexts(child)
	}
}

// Keys of a document: below named are objects by any name, below examples values that are no part of the document,
// and at schemas there may be true or false in place of a schema.
var (
	named    = []string{"paths", "properties", "patternProperties", "schemas", "responses", "parameters", "requestBodies", "headers", "callbacks", "content", "$defs", "definitions"}
	examples = []string{"example", "examples", "default", "enum", "const", "value"}
	schemas  = []string{"schema", "items", "not", "allOf", "oneOf", "anyOf", "properties"}
)

// downgrade rewrites what version 3.1 has of JSON Schema 2020-12 as version 3.0 has it. isNamed says that the keys of an
// object are names that the document chose.
func downgrade(value any, isNamed bool) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = downgrade(v[i], false)
		}
	case map[string]any:
		if !isNamed {
			downgradeSchema(v)
		}
		if variables, ok := v["variables"].(map[string]any); ok && !isNamed { // of a server: a port is often written as a number
			for _, variable := range variables {
				if of, ok := variable.(map[string]any); ok {
					of["default"] = plainText(of["default"])
				}
			}
		}
		for key, member := range v {
			if isNamed || !slices.Contains(examples, key) {
				v[key] = downgrade(member, !isNamed && slices.Contains(named, key))
			}
		}
	}
	return value
}

func downgradeSchema(s map[string]any) {
	for _, bound := range []string{"Minimum", "Maximum"} {
		downgradeBound(s, bound)
	}
	if _, isSchema := s["const"].(map[string]any); s["const"] != nil && !isSchema {
		s["enum"] = []any{s["const"]}
	}
	if list, ok := s["examples"].([]any); ok && len(list) > 0 && s["example"] == nil {
		s["example"] = list[0]
	}
	for _, key := range schemas {
		s[key] = asSchema(s[key])
		switch v := s[key].(type) {
		case nil:
			delete(s, key)
		case []any:
			for i := range v {
				v[i] = asSchema(v[i])
			}
		}
	}
	if properties, ok := s["properties"].(map[string]any); ok {
		for name, property := range properties {
			properties[name] = asSchema(property)
		}
	}
}

// downgradeBound makes one bound and a sign of two bounds.
func downgradeBound(s map[string]any, bound string) {
	name := strings.ToLower(bound)
	limit, ok := number64(s["exclusive"+bound])
	if !ok {
		return
	}
	delete(s, "exclusive"+bound)
	if other, ok := number64(s[name]); ok && (name == "minimum" && other > limit || name == "maximum" && other < limit) {
		return
	}
	s[name], s["exclusive"+bound] = limit, true
}

// asSchema is a schema in place of true or false.
func asSchema(value any) any {
	if _, ok := value.(bool); ok {
		return map[string]any{}
	}
	return value
}

func number64(value any) (float64, bool) {
	switch n := value.(type) {
	case float64:
		return n, true
	case int:
		return float64(n), true
	}
	return 0, false
}
