package expression

import (
	"fmt"
	"maps"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/env"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
)

// Type is what is known of a value before it is there.
type Type uint8

const (
	// Text is a string: of a header, a cookie, a match, or a column.
	Text Type = iota
	// JSON has the type that it has in the response.
	JSON
	// Code is a whole number.
	Code
)

// NotBefore says of a name why it has no value: a later step, or another journey, captures it.
const NotBefore = "is captured by no step of the journey before this one"

// FromTable says the same of a column of a table of which users have no row.
func FromTable(table string) string {
	return "is a column of " + table + ", of which each request takes a row of its own; a condition has the columns of the journey's user.data"
}

// Status is the name of the code of the last response, unless a value of the journey has it.
const Status = "status"

// Scope is what the conditions of a journey may name, at one place of it.
type Scope struct {
	names []string // by index
	types map[string]*cel.Type
	// columns are those among the names that no error lists: a file without a line of names has values there.
	columns map[string]bool
	// elsewhere says of other names where they are defined.
	elsewhere map[string]string
	// open says that a name which nothing defines may be a column.
	open bool
}

// NewScope is the scope at the beginning of a journey. elsewhere has the names that are defined,
// and have no value in conditions, with the reason. open says that the user has a row whose columns are not
// known: then any other name is taken for one.
func NewScope(elsewhere map[string]string, open bool) *Scope {
	s := &Scope{types: map[string]*cel.Type{}, columns: map[string]bool{}, elsewhere: map[string]string{}, open: open}
	for _, name := range []string{"user", "seq", "worker", "uuid", "rand"} {
		s.elsewhere[name] = "is a variable of requests, which conditions do not have"
	}
	maps.Copy(s.elsewhere, elsewhere)
	return s
}

// Add adds a value. maybe says that it may have none, which is null, as that of a step that was left
// out. A value that is added twice keeps its index; its type is JSON if they differ.
func (s *Scope) Add(name string, t Type, maybe bool) {
	of := cel.StringType
	switch {
	case t == JSON || maybe:
		of = cel.DynType
	case t == Code:
		of = cel.IntType
	}
	before, ok := s.types[name]
	if !ok {
		s.names = append(s.names, name)
	}
	if ok && before != of {
		of = cel.DynType
	}
	s.types[name] = of
	delete(s.elsewhere, name)
}

// AddColumn adds a column of the table of which the user has a row.
func (s *Scope) AddColumn(name string) {
	s.columns[name] = true
	s.Add(name, Text, false)
}

// listed are the names that an error may list, sorted.
func (s *Scope) listed() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.types)), func(name string) bool { return s.columns[name] })
}

// Has says whether a name was added.
func (s *Scope) Has(name string) bool { _, ok := s.types[name]; return ok }

// functions are what a condition may call besides operators.
var functions = map[string]bool{
	"size": true, "contains": true, "startsWith": true, "endsWith": true, "int": true, "double": true, "string": true,
}

// words name types in CEL, and no value.
var words = map[string]bool{
	"bool": true, "bytes": true, "double": true, "dyn": true, "int": true, "list": true, "map": true, "null_type": true, "string": true, "type": true, "uint": true,
}

// knownFunctions lists them for an error.
const knownFunctions = "size, contains, startsWith, endsWith, int, double, string and has"

// base has the operators and functions, and no names.
var base = func() func() (*cel.Env, error) {
	included := []*env.Function{
		env.NewFunction("size", overload(overloads.SizeString, overloads.SizeStringInst, overloads.SizeList, overloads.SizeListInst, overloads.SizeMap, overloads.SizeMapInst)...),
		env.NewFunction("int", overload(overloads.IntToInt, overloads.DoubleToInt, overloads.StringToInt)...),
		env.NewFunction("double", overload(overloads.DoubleToDouble, overloads.IntToDouble, overloads.StringToDouble)...),
		env.NewFunction("string", overload(overloads.StringToString, overloads.IntToString, overloads.DoubleToString, overloads.BoolToString)...),
	}
	for _, name := range []string{
		"contains", "startsWith", "endsWith",
		operators.Conditional, operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot, operators.Equals, operators.NotEquals,
		operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals,
		operators.Add, operators.Subtract, operators.Multiply, operators.Divide, operators.Modulo, operators.Negate, operators.Index, operators.In,
	} {
		included = append(included, env.NewFunction(name))
	}
	subset := env.NewLibrarySubset().SetDisableMacros(true).AddIncludedFunctions(included...)
	return func() (*cel.Env, error) {
		return cel.NewCustomEnv(cel.StdLib(cel.StdLibSubset(subset)), cel.Macros(cel.HasMacro), cel.CrossTypeNumericComparisons(true),
			cel.ParserRecursionLimit(maxDepth))
	}
}()

func overload(ids ...string) []*env.Overload {
	list := make([]*env.Overload, len(ids))
	for i, id := range ids {
		list[i] = &env.Overload{ID: id}
	}
	return list
}

// env has names too. One that is not in the scope is taken for a column.
func (s *Scope) env(names []string) (*cel.Env, error) {
	root, err := base()
	if err != nil {
		return nil, fmt.Errorf("the environment: %w", err)
	}
	var options []cel.EnvOption
	for _, name := range names {
		t, ok := s.types[name]
		if !ok {
			t = cel.StringType
		}
		options = append(options, cel.Variable(name, t))
	}
	return root.Extend(options...)
}
