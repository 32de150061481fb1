package draft

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// pair is a field of an object of YAML.
type pair struct{ key, value *yaml.Node }

func field(name string, value *yaml.Node) pair { return pair{scalar(name), value} }

// remark puts a comment above a field.
func remark(p pair, comment string) pair {
	p.key.HeadComment = comment
	return p
}

func object(fields ...pair) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, f := range fields {
		n.Content = append(n.Content, f.key, f.value)
	}
	return n
}

func flowObject(fields ...pair) *yaml.Node {
	n := object(fields...)
	n.Style = yaml.FlowStyle
	return n
}

func list(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Content: items}
}

func flow(items ...*yaml.Node) *yaml.Node {
	n := list(items...)
	n.Style = yaml.FlowStyle
	return n
}

// truths are texts that YAML 1.1 takes for truth values, and 1.2 does not. Readers of
// Kubernetes' manifests are of 1.1.
var truths = []string{"y", "n", "yes", "no", "on", "off"}

// scalar is a string, with quotes where it could be read as something else.
func scalar(value string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(value)
	n.Style = 0
	switch {
	case isBlock(value):
		n.Style = yaml.LiteralStyle
	case !isPlain(value):
		n.Style = yaml.DoubleQuotedStyle
	case slices.Contains(truths, strings.ToLower(value)):
		n.Style = yaml.SingleQuotedStyle
	}
	return n
}

// isPlain says whether a text has nothing that YAML could take for its own: breaks of
// lines, tabs, or what cannot be seen.
func isPlain(value string) bool {
	return !strings.ContainsFunc(value, func(r rune) bool { return !unicode.IsPrint(r) })
}

// isBlock says whether a text can be written line by line as it is.
func isBlock(value string) bool {
	lines := strings.Split(strings.TrimSuffix(value, "\n"), "\n")
	return len(lines) > 1 && lines[0] != "" && lines[0][0] != ' ' && !slices.ContainsFunc(lines, func(line string) bool {
		return !isPlain(line) || strings.TrimSpace(line) == ""
	})
}

func number(value int) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(value)}
}

func boolean(value bool) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(value)}
}
