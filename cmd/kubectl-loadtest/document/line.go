package document

import (
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

var fieldPart = regexp.MustCompile(`\[[^]]*\]|[^.[]+`)

// Line is that of a field in the file, or of the nearest part of the object around it
// that is written there; 0 if it is not known.
func (d Document) Line(field string) int {
	line, _ := d.find(field)
	return line
}

// Written is the text of a field as it stands in the file, without quotes; false: the field is not there, or
// is no number, truth value or text.
func (d Document) Written(field string) (string, bool) {
	_, at := d.find(field)
	if at != nil && at.Kind == yaml.AliasNode {
		at = at.Alias
	}
	if at == nil || at.Kind != yaml.ScalarNode {
		return "", false
	}
	return at.Value, true
}

// find is the node of a field, or nil, and its line, or that of the nearest part around it.
func (d Document) find(field string) (line int, at *yaml.Node) {
	var root yaml.Node
	if err := yaml.Unmarshal(d.text, &root); err != nil || len(root.Content) == 0 {
		return 0, nil
	}
	at, line = root.Content[0], root.Content[0].Line
	for _, part := range fieldPart.FindAllString(strings.TrimPrefix(d.item+"."+field, "."), -1) {
		key, below := step(at, part)
		if below == nil {
			return line, nil
		}
		at, line = below, key
	}
	return line, at
}

// step is the node below another, and the line on which it begins: that of its key.
func step(at *yaml.Node, part string) (line int, below *yaml.Node) {
	if at.Kind == yaml.AliasNode {
		at = at.Alias
	}
	switch at.Kind {
	case yaml.SequenceNode:
		i, err := strconv.Atoi(strings.Trim(part, "[]"))
		if err == nil && i >= 0 && i < len(at.Content) {
			return at.Content[i].Line, at.Content[i]
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(at.Content); i += 2 {
			if at.Content[i].Value == strings.Trim(part, "[]") {
				return at.Content[i].Line, at.Content[i+1]
			}
		}
	}
	return 0, nil
}
