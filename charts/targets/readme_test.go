package targets

import (
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/loadtest-dev/loadtest-operator/test/golden"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// marker is the line after which README.md is generated.
const marker = "<!-- The table is generated from values.yaml: go test ./charts/targets -run README -update -->\n\n"

// The README's table says of each value what the comment in values.yaml says.
func TestREADMEListsTheValues(t *testing.T) {
	source := must.ReadFile(t, "values.yaml")
	var document yaml.Node
	must.Succeed(t, yaml.Unmarshal(source, &document))
	table := "| value | default | meaning |\n| --- | --- | --- |\n" + strings.Join(rows(t, "", document.Content[0]), "")
	readme := must.ReadFile(t, "README.md")
	written, _, found := strings.Cut(string(readme), marker)
	if !found {
		t.Fatalf("README.md has no line %q", marker)
	}
	golden.Check(t, "README.md", written+marker+table)
}

// rows is a row of the table for each value in a mapping. A mapping with
// anything in it is described by its parts, unless it is Kubernetes's own.
func rows(t *testing.T, prefix string, mapping *yaml.Node) []string {
	t.Helper()
	var table []string
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], mapping.Content[i+1]
		name := prefix + key.Value
		_, meaning, _ := strings.Cut(key.HeadComment, "# -- ") // what stands before it is for the schema
		meaning = strings.Join(strings.Fields(strings.ReplaceAll(meaning, "#", "")), " ")
		if value.Kind == yaml.MappingNode && len(value.Content) > 0 && name != prefix+"resources" {
			table = append(table, rows(t, name+".", value)...)
			continue
		}
		if meaning == "" {
			t.Errorf("values.yaml: %s has no comment", name)
		}
		table = append(table, fmt.Sprintf("| `%s` | `%s` | %s |\n", name, inline(t, value), meaning))
	}
	return table
}

// inline is a value on one line.
func inline(t *testing.T, value *yaml.Node) string {
	t.Helper()
	if value.Kind == yaml.ScalarNode && value.Value == "" {
		return `""`
	}
	if value.Kind != yaml.ScalarNode {
		value.Style = yaml.FlowStyle
	}
	value.HeadComment = ""
	text, err := yaml.Marshal(value)
	must.Succeed(t, err)
	return strings.Join(strings.Fields(string(text)), " ")
}
