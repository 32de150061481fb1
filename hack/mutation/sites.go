package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// mutant is one change of a package.
type mutant struct {
	id int
	// file is relative to the module, and text is the line without what is around it.
	file, text   string
	line, column int
	change       string
}

func (m mutant) String() string {
	return fmt.Sprintf("%s:%d:%d: %s | %s", m.file, m.line, m.column, m.change, m.text)
}

// role says what becomes of the value of a boolean expression.
type role int

const (
	value role = iota
	condition
	loop // a loop's condition, which always holds in no mutant: few end
	ofAnd
	ofOr
	fixed // the expression around it has the same mutants
)

// edit replaces some bytes at a position of a file.
type edit struct {
	at, length int
	text       string
}

// instrument is a file under way.
type instrument struct {
	files  *token.FileSet
	info   *types.Info
	pkg    *types.Package
	names  map[*types.Package]string // by which the file has its imports
	path   string
	source []byte
	roles  map[ast.Expr]role
	// lists are the statements of lists. Those in whole are alone under a condition, whose mutants
	// leave them out.
	lists, whole map[ast.Stmt]bool
	// skip are the lines of mutants that do not compile.
	skip map[int]bool
	// seen counts the changes by their lines' texts.
	seen    map[string]int
	mutants *[]mutant
	edits   []edit
	// after are what follows the nodes around the present one, and pending what follows later ones.
	after   [][]edit
	pending map[ast.Node][]edit
	// last are the last statements of functions.
	last []ast.Stmt
}

// instrumented returns a file in which each site asks for the number of its mutants. The numbers go
// on from the files before. Each statement keeps its line.
func (in *instrument) instrumented(file *ast.File) []byte {
	for _, s := range file.Imports {
		if name := in.info.PkgNameOf(s); name != nil {
			in.names[name.Imported()] = name.Name()
		}
	}
	ast.Inspect(file, in.visit)
	slices.SortStableFunc(in.edits, func(a, b edit) int { return a.at - b.at })
	var out bytes.Buffer
	from := 0
	for _, e := range in.edits {
		out.Write(in.source[from:e.at])
		out.WriteString(e.text)
		from = e.at + e.length
	}
	out.Write(in.source[from:])
	return out.Bytes()
}

// visit is called with each node, and with nil at its end.
func (in *instrument) visit(n ast.Node) bool {
	if n == nil {
		in.leave()
		return true
	}
	in.after = append(in.after, in.pending[n])
	if s, ok := n.(ast.Stmt); ok && in.lists[s] && !in.whole[s] {
		in.statement(s)
	}
	descend := in.enter(n)
	if !descend {
		in.leave() // no call with nil follows
	}
	return descend
}

// enter notes what is to be changed of a node, and reports whether its children are visited.
func (in *instrument) enter(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok == token.VAR
	case *ast.ArrayType, *ast.FuncType, *ast.ImportSpec:
		return false
	case ast.Expr:
		return in.expression(n)
	case *ast.IfStmt:
		in.roles[n.Cond] = condition
		in.whole[only(n.Body.List)] = n.Else == nil
	case *ast.ForStmt:
		in.roles[n.Cond] = loop
	case *ast.SwitchStmt:
		in.clauses(n)
	case *ast.FuncDecl:
		in.function(n.Type, n.Body)
	case *ast.BlockStmt:
		in.statements(n.List)
	case *ast.CaseClause:
		in.statements(n.Body)
	case *ast.CommClause:
		in.statements(n.Body)
	case *ast.ExprStmt:
		in.roles[n.X] = fixed // nothing is done with the value
	case *ast.ReturnStmt:
		in.result(n)
	}
	return true
}

func (in *instrument) leave() {
	last := len(in.after) - 1
	in.edits = append(in.edits, in.after[last]...)
	in.after = in.after[:last]
}

func only(list []ast.Stmt) ast.Stmt {
	if len(list) != 1 {
		return nil
	}
	return list[0]
}

func (in *instrument) clauses(n *ast.SwitchStmt) {
	for _, s := range n.Body.List {
		clause := s.(*ast.CaseClause)
		for _, e := range clause.List {
			in.roles[e] = fixed
			if n.Tag == nil {
				in.roles[e] = condition
				in.whole[only(clause.Body)] = true
			}
		}
	}
}

// function notes the last statement, without which some path would have no result.
func (in *instrument) function(t *ast.FuncType, body *ast.BlockStmt) {
	if body != nil && len(body.List) > 0 {
		last := body.List[len(body.List)-1]
		if _, isReturn := last.(*ast.ReturnStmt); t.Results != nil || isReturn {
			in.last = append(in.last, last)
		}
	}
}

// result leaves out zeros that are returned beside an error or false.
func (in *instrument) result(n *ast.ReturnStmt) {
	if len(n.Results) < 2 {
		return
	}
	last := n.Results[len(n.Results)-1]
	t := in.info.TypeOf(last)
	if t != nil && types.Identical(t, types.Universe.Lookup("error").Type()) || in.short(last) == "false" {
		for _, r := range n.Results {
			in.roles[r] = max(in.roles[r], zero(r))
		}
	}
}

func zero(e ast.Expr) role {
	if _, ok := e.(*ast.BasicLit); ok {
		return fixed
	}
	return value
}

func (in *instrument) statements(list []ast.Stmt) {
	for _, s := range list {
		in.lists[s] = true
	}
}

func (in *instrument) statement(s ast.Stmt) {
	if what, ok := in.mayGo(s); ok {
		in.wrap(s, "without the "+what, "if !on__(%d) { ", " }")
	}
}

// mayGo says whether the package compiles without a statement.
func (in *instrument) mayGo(s ast.Stmt) (what string, ok bool) {
	switch s := s.(type) {
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		return "call", ok && fmt.Sprint(call.Fun) != "panic"
	case *ast.AssignStmt:
		name, ok := s.Lhs[0].(*ast.Ident)
		return "assignment", s.Tok != token.DEFINE && (!ok || name.Name != "_")
	case *ast.IncDecStmt:
		return "count", true
	case *ast.DeferStmt:
		return "call", true
	case *ast.BranchStmt:
		return s.Tok.String(), s.Tok == token.BREAK || s.Tok == token.CONTINUE
	case *ast.ReturnStmt:
		return "return", !slices.ContainsFunc(in.last, func(l ast.Stmt) bool { return l.Pos() <= s.Pos() && s.End() <= l.End() })
	}
	return "", false
}

// expression adds the mutants of an expression. It returns whether there may be more below it.
func (in *instrument) expression(e ast.Expr) bool {
	t := in.info.Types[e]
	switch e := e.(type) {
	case *ast.BasicLit:
		in.literal(e, t.Type)
		return false
	case *ast.FuncLit:
		in.function(e.Type, e.Body)
		return true
	case *ast.CompositeLit:
		in.keys(e, t.Type)
		return true
	}
	if t.Value != nil || t.IsType() {
		return false
	}
	if !isBoolean(t.Type) {
		if e, ok := e.(*ast.BinaryExpr); ok {
			in.arithmetic(e, t.Type)
		}
		return true
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		in.roles[e.X] = in.roles[e]
		return true
	case *ast.BinaryExpr:
		in.binary(e)
	case *ast.UnaryExpr:
		in.boolean(e, true)
		in.roles[e.X] = fixed
	case *ast.CallExpr:
		in.boolean(e, true)
	default:
		in.boolean(e, false)
	}
	return true
}

func isBoolean(t types.Type) bool {
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

// binary adds the mutants of && and ||, and of a comparison.
func (in *instrument) binary(e *ast.BinaryExpr) {
	switch e.Op {
	case token.LAND, token.LOR:
		r, below, to := in.roles[e], ofAnd, "||"
		if e.Op == token.LOR {
			below, to = ofOr, "&&"
		}
		if e.Op == token.LAND && (r == condition || r == loop) {
			in.wrap(e, "never", "false__(%d, ", ")")
		}
		if e.Op == token.LOR && r == condition {
			in.wrap(e, "always", "true__(%d, ", ")")
		}
		if r != below {
			in.operand(e)
		}
		// a || b is !(!a && !b).
		id := in.wrap(e, e.Op.String()+" is "+to, "not__(%d, ", ")")
		for _, x := range []ast.Expr{e.X, e.Y} {
			in.roles[x] = below
			if id > 0 {
				in.edits = append(in.edits, in.insert(x.Pos(), fmt.Sprintf("not__(%d, ", id)))
				in.pending[x] = []edit{in.insert(x.End(), ")")}
			}
		}
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		in.boolean(e, true)
		other := e.Op.String() + "="
		if strings.HasSuffix(e.Op.String(), "=") {
			other = strings.TrimSuffix(e.Op.String(), "=")
		}
		in.call(e, e.Op.String()+" is "+other, fmt.Sprintf("ordered__(%%d, %q, ", e.Op))
		if same := map[string]string{"<": "0", "<=": "1", ">": "1"}[e.Op.String()]; in.short(e.Y) == same {
			in.roles[e.Y] = fixed // of integers, < 1 is <= 0
		}
	default:
		in.boolean(e, true)
	}
}

// operand leaves an operand of && or || out.
func (in *instrument) operand(e ast.Expr) {
	switch in.roles[e] {
	case ofAnd:
		in.wrap(e, in.short(e)+" has no effect", "true__(%d, ", ")")
	case ofOr:
		in.wrap(e, in.short(e)+" has no effect", "false__(%d, ", ")")
	}
}

// boolean adds the mutants of a boolean expression by its role.
func (in *instrument) boolean(e ast.Expr, negated bool) {
	switch in.roles[e] {
	case condition:
		in.wrap(e, "always", "true__(%d, ", ")")
		in.wrap(e, "never", "false__(%d, ", ")")
	case loop:
		in.wrap(e, "never", "false__(%d, ", ")")
	case ofAnd, ofOr:
		in.operand(e)
	case value:
		if negated {
			in.wrap(e, "negated", "not__(%d, ", ")")
		}
	}
}

var opposite = map[token.Token]struct{ name, to string }{
	token.ADD: {"add__", "-"}, token.SUB: {"subtract__", "+"}, token.MUL: {"multiply__", "/"}, token.QUO: {"divide__", "*"},
}

func (in *instrument) arithmetic(e *ast.BinaryExpr, t types.Type) {
	o, ok := opposite[e.Op]
	if b, isBasic := t.Underlying().(*types.Basic); ok && isBasic && b.Info()&(types.IsInteger|types.IsFloat) != 0 {
		in.call(e, e.Op.String()+" is "+o.to, o.name+"(%d, ")
	}
	if e.Op == token.SHL || e.Op == token.SHR {
		in.roles[e.X], in.roles[e.Y] = fixed, fixed
	}
}

// literal adds the mutant of a 0 or 1.
func (in *instrument) literal(e *ast.BasicLit, t types.Type) {
	other := map[string]string{"0": "1", "1": "0"}[e.Value]
	if t == nil || other == "" || in.roles[e] == fixed {
		return
	}
	if b, ok := t.Underlying().(*types.Basic); !ok || b.Info()&(types.IsInteger|types.IsFloat) == 0 || b.Info()&types.IsUntyped != 0 {
		return
	}
	known := true
	name := types.TypeString(t, func(p *types.Package) string {
		if p == in.pkg {
			return ""
		}
		known = known && in.names[p] != ""
		return in.names[p]
	})
	if !known {
		return
	}
	in.wrap(e, e.Value+" is "+other, "constant__["+name+"](%d, ", ", "+other+")")
}

// keys leaves out the indices in a literal of a list, which are constants.
func (in *instrument) keys(e *ast.CompositeLit, t types.Type) {
	if _, isMap := t.Underlying().(*types.Map); isMap {
		return
	}
	for _, x := range e.Elts {
		if pair, ok := x.(*ast.KeyValueExpr); ok {
			in.roles[pair.Key] = fixed
		}
	}
}

// call replaces an operator by a call, and the operands by its last arguments.
func (in *instrument) call(e *ast.BinaryExpr, change, prefix string) {
	if in.wrap(e, change, prefix, ")") > 0 {
		in.pending[e.X] = []edit{{at: in.files.Position(e.OpPos).Offset, length: len(e.Op.String()), text: ","}}
	}
}

// wrap adds a mutant and what is written before and after a node for it. It returns the mutant's
// number, or 0 if there is none.
func (in *instrument) wrap(n ast.Node, change, before, after string) int {
	at := in.files.Position(n.Pos())
	if in.skip[at.Line] {
		return 0
	}
	// Of those in a file that read the same, the later ones are numbered.
	same := change + " | " + in.text(at.Line)
	if in.seen[same]++; in.seen[same] > 1 {
		change += fmt.Sprintf(" (%d)", in.seen[same])
	}
	id := len(*in.mutants) + 1
	*in.mutants = append(*in.mutants, mutant{id: id, file: in.path, text: in.text(at.Line), line: at.Line, column: at.Column, change: change})
	in.edits = append(in.edits, in.insert(n.Pos(), fmt.Sprintf(before, id)))
	top := &in.after[len(in.after)-1]
	*top = append([]edit{in.insert(n.End(), after)}, *top...)
	return id
}

func (in *instrument) insert(at token.Pos, text string) edit {
	return edit{at: in.files.Position(at).Offset, text: text}
}

func (in *instrument) text(line int) string {
	return strings.TrimSpace(string(bytes.Split(in.source, []byte("\n"))[line-1]))
}

// short is an expression as it stands in the file, on one line.
func (in *instrument) short(e ast.Expr) string {
	return strings.Join(strings.Fields(string(in.source[in.files.Position(e.Pos()).Offset:in.files.Position(e.End()).Offset])), " ")
}
