package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/cover"
)

// widenFile widens a coverage profile of packages of the module of the working folder.
func widenFile(profile string) error {
	raw, err := os.ReadFile(profile)
	if err != nil {
		return err
	}
	module, err := exec.Command(os.Getenv(goVariable), "list", "-m").Output()
	if err != nil {
		return err
	}
	files, err := cover.ParseProfilesFromReader(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	for _, p := range files {
		source, err := filepath.Rel(strings.TrimSpace(string(module)), p.FileName)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(source)
		if err != nil {
			return err
		}
		more, err := widen(p, text)
		if err != nil {
			return err
		}
		raw = append(raw, more...)
	}
	return os.WriteFile(profile, raw, 0o600)
}

// widen returns lines of a coverage profile for what Go's coverage leaves out of a
// file: the conditions of a switch's cases, which count as covered if the switch is,
// and the values of package variables and constants, which always are.
//
// That is generous: a case may be reached only if those before it are not taken. Its
// mutants are then run and, if no test notices them, have lived.
func widen(p *cover.Profile, source []byte) ([]byte, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, p.FileName, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var lines []byte
	add := func(e ast.Expr) {
		from, to := files.Position(e.Pos()), files.Position(e.End())
		lines = fmt.Appendf(lines, "%s:%d.%d,%d.%d 1 1\n", p.FileName, from.Line, from.Column, to.Line, to.Column)
	}
	covered := func(at token.Pos) bool {
		return slices.ContainsFunc(p.Blocks, func(b cover.ProfileBlock) bool { return b.Count > 0 && contains(b, files.Position(at)) })
	}
	ast.Inspect(file, func(n ast.Node) bool {
		s, ok := n.(*ast.SwitchStmt)
		if !ok || !covered(s.Pos()) {
			return true
		}
		for _, clause := range s.Body.List {
			for _, e := range clause.(*ast.CaseClause).List {
				add(e)
			}
		}
		return true
	})
	for _, d := range file.Decls {
		general, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range general.Specs {
			if values, ok := spec.(*ast.ValueSpec); ok {
				for _, e := range values.Values {
					add(e)
				}
			}
		}
	}
	return lines, nil
}

func contains(b cover.ProfileBlock, at token.Position) bool {
	after := at.Line > b.StartLine || at.Line == b.StartLine && at.Column >= b.StartCol
	before := at.Line < b.EndLine || at.Line == b.EndLine && at.Column <= b.EndCol
	return after && before
}
