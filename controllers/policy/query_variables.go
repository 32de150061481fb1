package policy

import (
	"fmt"
	"regexp"
	"strings"
)

// variable is one in an expression, at its beginning.
var variable = regexp.MustCompile(`^\$[A-Za-z_][A-Za-z0-9_]*`)

// quoted says of each variable whether it stands in quotes: there it is the value of a label.
var quoted = map[string]bool{"$window": false, "$namespace": true, "$service": true}

// QueryValues are what the variables of an expression stand for.
type QueryValues struct {
	// Window is a duration as PromQL writes it.
	Window string
	// Namespace is that of the LoadTest, Service that of the target; empty: it is a URL.
	Namespace, Service string
}

// Expand is the expression with its variables replaced. It fails if the target has no Service
// and the expression needs one.
func (q Query) Expand(v QueryValues) (string, error) {
	var missing error
	var b strings.Builder
	eachPart(q.Expression, func(part string, isVariable, _ bool) {
		switch {
		case !isVariable:
			b.WriteString(part)
		case part == "$window":
			b.WriteString(v.Window)
		case part == "$namespace":
			b.WriteString(escaped(v.Namespace))
		case v.Service == "":
			missing = fmt.Errorf("the expression has $service, and the target is not a Service")
		default:
			b.WriteString(escaped(v.Service))
		}
	})
	if missing != nil {
		return "", missing
	}
	return b.String(), nil
}

// escaped is a text within quotes of PromQL.
func escaped(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, `'`, `\'`, "\n", `\n`).Replace(s)
}

// checkVariables refuses a variable that is unknown, or that stands where its value could be more
// than a value.
func checkVariables(expression string) (err error) {
	eachPart(expression, func(part string, isVariable, isQuoted bool) {
		inQuotes, known := quoted[part]
		switch {
		case err != nil || !isVariable:
		case !known:
			err = fmt.Errorf("%s is unknown: the variables are $window, $namespace and $service", part)
		case inQuotes && !isQuoted:
			err = fmt.Errorf("%s must stand in double or single quotes, as the value of a label", part)
		case !inQuotes && isQuoted:
			err = fmt.Errorf("%s must not stand in quotes: it is a duration, as in [%s]", part, part)
		}
	})
	return err
}

// eachPart visits an expression in order: variables, and what is between them. What is between
// backticks is never in quotes, as nothing can be escaped there.
func eachPart(expression string, visit func(part string, isVariable, isQuoted bool)) {
	const none = byte(0)
	in, from := none, 0
	for i := 0; i < len(expression); i++ {
		c := expression[i]
		switch name := variable.FindString(expression[i:]); {
		case name != "" && in != '#':
			visit(expression[from:i], false, false)
			visit(name, true, in == '"' || in == '\'')
			i += len(name) - 1
			from = i + 1
		case in == '#':
			if c == '\n' {
				in = none
			}
		case in != none && in != '`' && c == '\\':
			i++
		case in == c:
			in = none
		case in == none && strings.IndexByte("\"'`#", c) >= 0:
			in = c
		}
	}
	visit(expression[from:], false, false)
}
