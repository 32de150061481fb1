package expression

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/loadtest-dev/loadtest-operator/text"
)

// The bounds of a condition. At each of them an evaluation takes less than a millisecond; a usual one
// takes less than a microsecond, see BenchmarkHolds.
const (
	// MaxLength is in bytes.
	MaxLength = 512
	// MaxValue is the size of the largest value, in bytes.
	MaxValue = 4096
	// MaxCost is in the units of CEL: one for an operation or an item of a list, or ten bytes of a text.
	MaxCost = 10_000
	// maxNames are the values that a condition may name: each may be a JSON object that is read anew.
	maxNames = 8
	maxDepth = 64
	// maxSentence is the length of what CEL says of a mistake.
	maxSentence = 200
)

// Condition is a compiled text. It is safe for concurrent use.
type Condition struct {
	text      string
	program   cel.Program
	uses      []use
	certainty certainty
}

// use is a value that a condition names.
type use struct {
	name  string
	index int // in the scope; -1: of a column that is not known yet
}

// String is the text.
func (c *Condition) String() string { return c.text }

// Compile compiles a text. Its error says what is wrong, and what to do about it.
func (s *Scope) Compile(condition string) (*Condition, error) {
	// The cost is not counted while a condition is evaluated, which would double the time: its estimate is an
	// upper bound, as no value is larger than MaxValue.
	return s.compile(condition)
}

func (s *Scope) compile(condition string, options ...cel.ProgramOption) (*Condition, error) {
	if len(condition) > MaxLength {
		return nil, fmt.Errorf("has %d bytes, at most %d are accepted", len(condition), MaxLength)
	}
	root, err := base()
	if err != nil {
		return nil, err
	}
	parsed, issues := root.Parse(condition)
	if issues.Err() != nil {
		return nil, sentence(issues)
	}
	names, err := s.namesIn(parsed.NativeRep().Expr())
	if err != nil {
		return nil, err
	}
	e, err := s.env(names)
	if err != nil {
		return nil, err
	}
	checked, issues := e.Check(parsed)
	if issues.Err() != nil {
		return nil, sentence(issues)
	}
	if t := checked.OutputType(); !t.IsExactType(cel.BoolType) && !t.IsExactType(cel.DynType) {
		return nil, fmt.Errorf("is of type %s; a condition must be true or false, such as status == 200", t)
	}
	if err := checkCost(e, checked); err != nil {
		return nil, err
	}
	c := &Condition{text: condition, certainty: s.certaintyOf(checked)}
	for _, name := range names {
		c.uses = append(c.uses, use{name, slices.Index(s.names, name)})
	}
	c.program, err = e.Program(checked, append(options, cel.EvalOptions(cel.OptOptimize))...)
	return c, err
}

func checkCost(e *cel.Env, checked *cel.Ast) error {
	cost, err := e.EstimateCost(checked, largest{})
	switch {
	case err != nil:
		return fmt.Errorf("has no known cost: %w", err)
	case cost.Max > MaxCost:
		return fmt.Errorf("costs up to %d units with values of %d bytes, at most %d are accepted, since a worker sends nothing meanwhile; use fewer operations on whole texts and lists", cost.Max, MaxValue, MaxCost)
	}
	return nil
}

// largest estimates that each value, and each part of one, is as large as any may be.
type largest struct{}

var _ checker.CostEstimator = largest{}

// EstimateSize is that of one that is as large as it may be.
func (largest) EstimateSize(checker.AstNode) *checker.SizeEstimate {
	return &checker.SizeEstimate{Max: MaxValue}
}

// EstimateCallCost leaves the cost of calls to CEL, unless two values are compared that may be lists: CEL counts
// a tenth for an item, as for a byte.
func (largest) EstimateCallCost(function, _ string, _ *checker.AstNode, args []checker.AstNode) *checker.CallEstimate {
	if function != operators.Equals && function != operators.NotEquals || slices.ContainsFunc(args, isSmall) {
		return nil
	}
	const items = MaxValue / 2 // of a list, with commas
	return &checker.CallEstimate{CostEstimate: checker.CostEstimate{Min: 1, Max: items}}
}

// isSmall says whether a value is no list, and no object, or one that the condition has itself.
func isSmall(n checker.AstNode) bool {
	switch n.Type().Kind() {
	case types.DynKind, types.ListKind, types.MapKind:
		return n.ComputedSize() != nil || n.Expr().Kind() == ast.LiteralKind
	}
	return true
}

// noOverload is what CEL says of an operator or a function that does not take the types of its operands.
var noOverload = regexp.MustCompile(`^found no matching overload for '([^']+)' applied to '([^']+)'$`)

// sentence is the first of the mistakes, in one line.
func sentence(issues *cel.Issues) error {
	first := issues.Errors()[0]
	at := first.Location.Column() + 1
	if m := noOverload.FindStringSubmatch(first.Message); m != nil {
		return fmt.Errorf("has types at character %d that %s does not take: %s; int(), double() and string() convert", at, strings.Trim(m[1], "_@"), m[2])
	}
	said := strings.TrimPrefix(first.Message, "Syntax error: ")
	return fmt.Errorf("is no condition at character %d: %s", at, text.Clean(said, maxSentence))
}

// namesIn are the names in an expression, sorted. It refuses what is not defined.
func (s *Scope) namesIn(e ast.Expr) ([]string, error) {
	found := map[string]bool{}
	if err := s.visit(e, found); err != nil {
		return nil, err
	}
	if len(found) > maxNames {
		return nil, fmt.Errorf("names %d values, at most %d are accepted", len(found), maxNames)
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// visit adds the names in an expression.
func (s *Scope) visit(e ast.Expr, names map[string]bool) error {
	var below []ast.Expr
	switch e.Kind() {
	case ast.LiteralKind, ast.UnspecifiedExprKind:
	case ast.IdentKind:
		names[e.AsIdent()] = true
		return s.checkName(e.AsIdent())
	case ast.SelectKind:
		below = append(below, e.AsSelect().Operand())
	case ast.CallKind:
		call := e.AsCall()
		if name := call.FunctionName(); isWord(name) && !functions[name] {
			return unknownFunction(name)
		}
		if call.IsMemberFunction() {
			below = append(below, call.Target())
		}
		below = append(below, call.Args()...)
	case ast.ListKind:
		below = e.AsList().Elements()
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			below = append(below, entry.AsMapEntry().Key(), entry.AsMapEntry().Value())
		}
	default:
		return errors.New("has an object of a type; use values, lists and maps")
	}
	for _, part := range below {
		if err := s.visit(part, names); err != nil {
			return err
		}
	}
	return nil
}

// isWord says whether a function is none of the operators, which have a character like _ or ! first.
func isWord(name string) bool {
	return name[0] >= 'A' && name[0] <= 'Z' || name[0] >= 'a' && name[0] <= 'z'
}

func unknownFunction(name string) error {
	if name == "matches" {
		return errors.New("matches() is not accepted: no small bound holds for the time of a regular expression; capture what matches with captureFrom, or use contains, startsWith or endsWith")
	}
	return fmt.Errorf("%s() is not a function of conditions; known are %s", text.Truncate(name, 63), knownFunctions)
}

// checkName refuses a name without a value.
func (s *Scope) checkName(name string) error {
	shown := text.Clean(name, 63)
	switch why, defined := s.elsewhere[name]; {
	case words[name]:
		return fmt.Errorf("%s is a word of CEL for a type; give the value another name", name)
	case s.Has(name):
		return nil
	case defined:
		return fmt.Errorf("%s %s", shown, why)
	case s.open && isColumn(name):
		return nil
	}
	known := s.listed()
	if like := text.MostAlike(name, known); like != "" {
		return fmt.Errorf("%s is not defined here; did you mean %s?", shown, like)
	}
	if s.open || len(s.columns) > 0 {
		known = append(known, "the columns of user.data")
	}
	return fmt.Errorf("%s is not defined here; known are %s", shown, cmp.Or(strings.Join(known, ", "), "no values yet"))
}

// isColumn says whether a name may be that of a column: none has a dot.
func isColumn(name string) bool { return name != "" && isWord(name) && !strings.Contains(name, ".") }
