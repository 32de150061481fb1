package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// message is a sentence of the source, and the reason in its statement; empty: it has none, or several.
type message struct{ reason, folder, text string }

var (
	// words recognises what is more than a name, and wrapped what says only where an error comes from.
	words   = regexp.MustCompile(`[\pL\pN>)][,:;]? [a-z<(]`)
	wrapped = regexp.MustCompile(`^[^.;,]*: (\S+ )?<[^>]*>$`)
	verb    = regexp.MustCompile(`%(?:%|(?:\[(\d+)\])?[-+#]?\*?[0-9.]*[a-zA-Z])`)
	// rule is the message of a rule of the API.
	rule   = regexp.MustCompile(`XValidation:.*message="((?:[^"\\]|\\.)*)"`)
	reason = regexp.MustCompile(`\b([Rr]eason\w+)\s+= "(\w+)"`)
	// forTests are the folders, and notRead the files, without sentences of the product.
	forTests = regexp.MustCompile(`^testdata$|(^|[^d])test$`)
	notRead  = regexp.MustCompile(`_test\.go$|\.pb\.go$`)
	// unread are the functions, and converted the methods, whose texts or names say nothing to a reader.
	unread    = regexp.MustCompile(`^(mustCompile|appendf|contains|hasPrefix|trimSuffix|panic)$`)
	converted = regexp.MustCompile(`^(Round|Truncate|Format|String|UTC|Error)$`)
)

// read are the sentences of the product.
func read(root string) (list []message, err error) {
	reasons, files := map[string]string{"invalid": "InvalidSpec"}, map[string][]byte{}
	for _, folder := range []string{"accesslog", "address", "api", "cmd", "controllers", "expression", "loadworker", "measure", "pace", "selector", "text"} {
		err := fs.WalkDir(os.DirFS(root), folder, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && forTests.MatchString(d.Name()):
				return fs.SkipDir
			case d.IsDir() || filepath.Ext(name) != ".go" || notRead.MatchString(name):
				return nil
			}
			files[name], err = os.ReadFile(filepath.Join(root, name))
			for _, m := range reason.FindAllSubmatch(files[name], -1) {
				reasons[string(m[1])] = string(m[2])
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	for name, text := range files {
		folder := filepath.ToSlash(filepath.Dir(name))
		for _, m := range rule.FindAllSubmatch(text, -1) {
			list = append(list, message{folder: folder, text: strings.ReplaceAll(string(m[1]), `\"`, `"`)})
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, m := range sentences(file, reasons) {
			m.folder = folder
			list = append(list, m)
		}
	}
	return list, nil
}

func sentences(file *ast.File, reasons map[string]string) (list []message) {
	var above []ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			above = above[:len(above)-1]
			return true
		}
		if call, ok := n.(*ast.CallExpr); ok && unread.MatchString(nameOf(call.Fun)) {
			return false
		}
		if e, ok := n.(ast.Expr); ok {
			if text, ok := added(e); ok {
				text = filled(text, e, above[len(above)-1])
				if words.MatchString(text) && !wrapped.MatchString(text) && !strings.Contains(text, `:"`) && !strings.Contains(text, "</") {
					list = append(list, message{reason: reasonOf(above, reasons), text: text})
				}
				return false
			}
		}
		above = append(above, n)
		return true
	})
	return list
}

// reasonOf is the only reason in the smallest node around a text that has any, within a statement.
func reasonOf(above []ast.Node, reasons map[string]string) string {
	for _, n := range slices.Backward(above[1:]) {
		found := map[string]bool{}
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				found[reasons[n.Name]] = true
			case *ast.CallExpr: // r.event("Probed", …)
				if nameOf(n.Fun) == "event" && len(n.Args) > 0 {
					event, _ := literal(n.Args[0])
					found[event] = true
				}
			case *ast.CompositeLit: // Event{true, "Missed", …}
				if nameOf(n.Type) == "Event" && len(n.Elts) > 1 {
					event, _ := literal(n.Elts[1])
					found[event] = true
				}
			}
			return true
		})
		delete(found, "")
		for of := range found {
			return map[bool]string{true: of}[len(found) == 1]
		}
		if _, ok := n.(*ast.BlockStmt); ok {
			return ""
		}
	}
	return ""
}

// filled is a format with the names of the values in place of the verbs.
func filled(format string, e ast.Expr, parent ast.Node) string {
	var values []ast.Expr
	if call, ok := parent.(*ast.CallExpr); ok {
		values = call.Args[slices.Index(call.Args, e)+1:]
	}
	n := 0
	return verb.ReplaceAllStringFunc(format, func(v string) string {
		if v == "%%" {
			return "%"
		}
		if n++; strings.HasPrefix(v, "%[") {
			n, _ = strconv.Atoi(verb.FindStringSubmatch(v)[1])
		}
		if n > len(values) {
			return "<…>"
		}
		return "<" + nameOf(values[n-1]) + ">"
	})
}

// added is the text of a string, or of a sum that has one, with names for what else is added.
func added(e ast.Expr) (string, bool) {
	sum, ok := e.(*ast.BinaryExpr)
	if !ok {
		return literal(e)
	}
	left, ok := added(sum.X)
	right, ok2 := added(sum.Y)
	if !ok {
		left = "<" + nameOf(sum.X) + ">"
	}
	if !ok2 {
		right = "<" + nameOf(sum.Y) + ">"
	}
	return left + right, sum.Op == token.ADD && (ok || ok2)
}

func literal(e ast.Expr) (string, bool) {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(l.Value)
	return s, err == nil
}

// nameOf is the last name of an expression, which says what its value is.
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return strings.ToLower(e.Sel.Name[:1]) + e.Sel.Name[1:]
	case *ast.CallExpr:
		if s, ok := e.Fun.(*ast.SelectorExpr); ok && converted.MatchString(s.Sel.Name) {
			return nameOf(s.X)
		}
		if len(e.Args) > 0 {
			return nameOf(e.Args[0])
		}
		return nameOf(e.Fun)
	case *ast.IndexExpr:
		return nameOf(e.X)
	case *ast.StarExpr:
		return nameOf(e.X)
	}
	return "…"
}
