package expression

import (
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// MustNotFail says what a condition must be that is asked before anything of a journey is sent.
const MustNotFail = "may have no result, and is asked before the journey sends anything: join comparisons of captured values by == and !=, such as token == null, with && and ||"

// certainty is what is known of a condition before it is evaluated.
type certainty struct {
	// mayFail says that there are values of which it has no result.
	mayFail bool
	// withNull are the values without which it holds, and withValue those without which it does not.
	withNull, withValue []string
}

// MayFail says whether there are values of which the condition has no result, such as a sum of null.
// One that compares captured values and the code with == and != has one of all values.
func (c *Condition) MayFail() bool { return c.certainty.mayFail }

// HoldsWithout says whether the condition is known to hold if the value of a name is null.
func (c *Condition) HoldsWithout(name string) bool {
	return slices.Contains(c.certainty.withNull, name)
}

// Needs says whether the condition is known not to hold if the value of a name is null.
func (c *Condition) Needs(name string) bool { return slices.Contains(c.certainty.withValue, name) }

// certaintyOf is what is known of a checked condition. It knows nothing of columns: a file may lack a
// row, or have one with a value that is too large.
func (s *Scope) certaintyOf(checked *cel.Ast) certainty {
	a := asker{scope: s, types: checked.NativeRep()}
	e := checked.NativeRep().Expr()
	known := certainty{mayFail: !a.isBool(e) || a.mayFail(e)}
	if !known.mayFail {
		known.withNull = nullIn(e, operators.LogicalOr, operators.Equals)
		known.withValue = nullIn(e, operators.LogicalAnd, operators.NotEquals)
	}
	return known
}

// asker asks what is known of the parts of a condition.
type asker struct {
	scope *Scope
	types *ast.AST
}

// kind is what a part is. Where columns are not known, one may have the name of the code; the condition is compiled
// again where they are known.
func (a asker) kind(e ast.Expr) types.Kind {
	if a.scope.open && e.Kind() == ast.IdentKind && e.AsIdent() == Status {
		return types.IntKind
	}
	return a.types.GetType(e.ID()).Kind()
}

func (a asker) isBool(e ast.Expr) bool { return a.kind(e) == types.BoolKind }

func (a asker) mayFail(e ast.Expr) bool {
	switch e.Kind() {
	case ast.LiteralKind:
		return false
	case ast.IdentKind:
		return a.scope.columns[e.AsIdent()] || !a.scope.Has(e.AsIdent())
	case ast.ListKind:
		return slices.ContainsFunc(e.AsList().Elements(), a.mayFail)
	case ast.CallKind:
		args := e.AsCall().Args()
		return !a.takesAll(e.AsCall().FunctionName(), args) || slices.ContainsFunc(args, a.mayFail)
	}
	return true
}

// takesAll says whether an operator has a result of all values that its operands may have.
func (a asker) takesAll(operator string, args []ast.Expr) bool {
	switch operator {
	case operators.Equals, operators.NotEquals:
		return true
	case operators.LogicalNot, operators.LogicalAnd, operators.LogicalOr:
		return !slices.ContainsFunc(args, func(e ast.Expr) bool { return !a.isBool(e) })
	case operators.In:
		return args[1].Kind() == ast.ListKind
	case operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		return !slices.ContainsFunc(args, func(e ast.Expr) bool { return a.kind(e) == types.DynKind })
	}
	return false
}

// nullIn are the names that are compared with null by an operator, in the whole or in one of the parts that
// another operator joins.
func nullIn(e ast.Expr, joins, compares string) []string {
	if e.Kind() != ast.CallKind || len(e.AsCall().Args()) != 2 {
		return nil
	}
	left, right := e.AsCall().Args()[0], e.AsCall().Args()[1]
	switch e.AsCall().FunctionName() {
	case joins:
		return append(nullIn(left, joins, compares), nullIn(right, joins, compares)...)
	case compares:
		if isNull(left) {
			left, right = right, left
		}
		if left.Kind() == ast.IdentKind && isNull(right) {
			return []string{left.AsIdent()}
		}
	}
	return nil
}

func isNull(e ast.Expr) bool {
	return e.Kind() == ast.LiteralKind && e.AsLiteral() == types.NullValue
}
