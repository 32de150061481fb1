package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

func main() {
	if len(os.Args) < 2 {
		fail(errors.New("give the files of the definitions, which are written again"))
	}
	for _, path := range os.Args[1:] {
		if err := rewrite(path); err != nil {
			fail(fmt.Errorf("%s: %w", path, err))
		}
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "crdtext:", err)
	os.Exit(1)
}

func rewrite(path string) error {
	before, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	after, err := shortened(before)
	if err != nil {
		return err
	}
	return os.WriteFile(path, after, 0o644)
}

// schema is a part of a definition's schema.
type schema = map[string]any

// shortened returns a definition in which a part that has the fields of an earlier one, with the same
// descriptions, says which one in place of them, and no part says what follows from the rest of it.
func shortened(definition []byte) ([]byte, error) {
	var crd struct {
		Spec struct {
			Versions []struct {
				Schema struct{ OpenAPIV3Schema schema }
			}
		}
	}
	whole := map[string]any{}
	if err := errors.Join(yaml.Unmarshal(definition, &crd), yaml.Unmarshal(definition, &whole)); err != nil {
		return nil, err
	}
	versions, _ := whole["spec"].(schema)["versions"].([]any)
	for i, version := range versions {
		root := crd.Spec.Versions[i].Schema.OpenAPIV3Schema
		if status, ok := below(root, "status"); ok {
			shorten(status)
		}
		for _, path := range ofKubernetes {
			shortenBelow(root, path)
		}
		described := part{"", root}
		if err := errors.Join(described.dropImplied(), describe(described.schema)); err != nil {
			return nil, err
		}
		version.(schema)["schema"] = schema{"openAPIV3Schema": root}
	}
	written, err := yaml.Marshal(whole)
	return append([]byte("---\n"), bytes.TrimPrefix(written, []byte("---\n"))...), err
}

// ofKubernetes are the parts whose types are Kubernetes' own, and which it describes at length elsewhere.
var ofKubernetes = [][]string{{"apiVersion"}, {"kind"}, {"spec", "worker", "resources"}, {"spec", "worker", "tolerations"}}

// shortenBelow leaves the first sentence of what Kubernetes says of a part, if there is one of that path, and all
// that we say of it.
func shortenBelow(root schema, path []string) {
	of := root
	for _, name := range path {
		var ok bool
		if of, ok = below(of, name); !ok {
			return
		}
	}
	own, ours := of[description]
	shorten(of)
	if ours && len(path) > 1 {
		of[description] = own
	}
}

// below is a property of a schema.
func below(of schema, name string) (schema, bool) {
	properties, _ := of["properties"].(schema)
	property, ok := properties[name].(schema)
	return property, ok
}

// shorten leaves the first sentence of each description.
func shorten(o any) {
	switch o := o.(type) {
	case schema:
		for key, value := range o {
			if text, isText := value.(string); key == description && isText {
				o[key] = firstSentence(text)
				continue
			}
			shorten(value)
		}
	case []any:
		for i := range o {
			shorten(o[i])
		}
	}
}

// firstSentence is a text up to the first full stop that ends a sentence.
func firstSentence(text string) string {
	for i, r := range text {
		if r == '.' && (i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\n') {
			return text[:i+1]
		}
	}
	return text
}

// part is a part of a schema, at a path such as spec.steps.
type part struct {
	path string
	schema
}

// describe goes through the parts in breadth, so that the first of equal ones is the one with the shortest path.
func describe(root schema) error {
	first := map[string]string{}
	for queue := []part{{"", root}}; len(queue) > 0; queue = queue[1:] {
		p := queue[0]
		fields, err := json.Marshal(without(p.schema, description))
		if err != nil {
			return err
		}
		like, again := first[string(fields)]
		if again && p.refer(like) {
			continue
		}
		if !again {
			first[string(fields)] = p.path
		}
		queue = append(queue, p.below()...)
	}
	return nil
}

const description = "description"

// refer takes the descriptions out of a part, and says where they are. It does so for what is worth
// a look elsewhere: some fields, not one.
func (p part) refer(to string) bool {
	const worth = 100 // bytes
	fields := without(p.schema, description)
	bare, ok := undescribed(fields).(schema)
	if !ok || size(fields)-size(bare) < worth || to == "" {
		return false
	}
	own, _ := p.schema[description].(string)
	clear(p.schema)
	maps.Copy(p.schema, bare)
	p.schema[description] = strings.TrimSpace(fmt.Sprintf("%s\nFields: see %s.", own, to))
	return true
}

func size(s schema) int {
	b, _ := json.Marshal(s) // it was read from JSON
	return len(b)
}

func without(s schema, key string) schema {
	rest := maps.Clone(s)
	delete(rest, key)
	return rest
}

// undescribed is a copy without descriptions. A property may have that name.
func undescribed(o any) any {
	switch o := o.(type) {
	case schema:
		copied := schema{}
		for key, value := range o {
			if _, isText := value.(string); key != description || !isText {
				copied[key] = undescribed(value)
			}
		}
		return copied
	case []any:
		copied := make([]any, len(o))
		for i := range o {
			copied[i] = undescribed(o[i])
		}
		return copied
	}
	return o
}

// below are the parts of a part, those first that a reader looks at first.
func (p part) below() (parts []part) {
	properties, _ := p.schema["properties"].(schema)
	names := slices.Sorted(maps.Keys(properties))
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	for _, name := range names {
		parts = append(parts, part{strings.TrimPrefix(p.path+"."+name, "."), properties[name].(schema)})
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if of, ok := p.schema[key].(schema); ok {
			parts = append(parts, part{p.path, of})
		}
	}
	return parts
}

// readFirst are the fields that stand for others of their type.
var readFirst = []string{"target", "requests", "steps", "result", "responseTime"}

func rank(name string) int {
	if at := slices.Index(readFirst, name); at >= 0 {
		return at
	}
	return len(readFirst)
}
