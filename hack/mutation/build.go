package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

//go:embed switch.go.txt
var switches string

// program is the test program of a package with all its mutants.
type program struct {
	folder, file string // the folder is relative to the module; without tests there is no file
	mutants      []mutant
}

// listed is what is read of a package that the go command lists.
type listed struct {
	Dir, ImportPath, Name, Export string
	GoFiles                       []string
	DepOnly                       bool
}

func list(args ...string) (all []listed, err error) {
	out, err := goCommand(append([]string{"list", "-json=Dir,ImportPath,Name,Export,GoFiles,DepOnly"}, args...)...)
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
}

func goCommand(args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("go %s: %w\n%s%s", strings.Join(args, " "), err, out, &complaint)
	}
	return out, err
}

// build builds the test program of a package in a folder for temporary files. What does not
// compile on a line is no mutant.
func build(folder, temporary string) (*program, error) {
	all, err := list("-export", "-deps", "./"+folder)
	if err != nil {
		return nil, err
	}
	skip := map[string]map[int]bool{}
	for {
		p, err := buildOnce(folder, temporary, all, skip)
		if err == nil || !skipAlso(skip, err.Error()) {
			return p, err
		}
	}
}

func buildOnce(folder, temporary string, all []listed, skip map[string]map[int]bool) (*program, error) {
	p := &program{folder: folder, file: filepath.Join(temporary, "tests")}
	sources, err := p.instrument(all, skip)
	if err != nil {
		return nil, err
	}
	replace := map[string]string{}
	for path, source := range sources {
		replace[path] = filepath.Join(temporary, fmt.Sprintf("%d.go", len(replace)))
		if err := os.WriteFile(replace[path], source, 0o600); err != nil {
			return nil, err
		}
	}
	raw, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	overlay := filepath.Join(temporary, "overlay.json")
	if err := os.WriteFile(overlay, raw, 0o600); err != nil {
		return nil, err
	}
	// Vet would complain of what is written for the mutants.
	_, err = goCommand("test", "-c", "-vet=off", "-gcflags=-e", "-ldflags=-s -w", "-overlay", overlay, "-o", p.file, "./"+folder)
	return p, err
}

var complaint = regexp.MustCompile(`(?m)^([^\s:]+\.go):(\d+):\d+: `)

// skipAlso adds the lines that the compiler complains about. It returns whether there are any new ones.
func skipAlso(skip map[string]map[int]bool, output string) (more bool) {
	for _, match := range complaint.FindAllStringSubmatch(output, -1) {
		file := filepath.Clean(match[1])
		line, _ := strconv.Atoi(match[2])
		if skip[file] == nil {
			skip[file] = map[int]bool{}
		}
		more = more || !skip[file][line]
		skip[file][line] = true
	}
	return more
}

// instrument returns the package's files with its mutants, by their paths. The package is the last
// of those listed.
func (p *program) instrument(all []listed, skip map[string]map[int]bool) (map[string][]byte, error) {
	pkg := all[len(all)-1]
	exports := map[string]string{}
	for _, l := range all {
		exports[l.ImportPath] = l.Export
	}
	files := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range pkg.GoFiles {
		file, err := parser.ParseFile(files, filepath.Join(pkg.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, file)
	}
	config := types.Config{Importer: importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{},
	}
	checked, err := config.Check(pkg.ImportPath, files, parsed, info)
	if err != nil {
		return nil, err
	}
	sources := map[string][]byte{}
	for i, file := range parsed {
		path := filepath.Join(pkg.Dir, pkg.GoFiles[i])
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		name := filepath.Join(p.folder, pkg.GoFiles[i])
		in := &instrument{
			files: files, info: info, pkg: checked, names: map[*types.Package]string{}, path: name, source: source,
			roles: map[ast.Expr]role{}, lists: map[ast.Stmt]bool{}, whole: map[ast.Stmt]bool{}, pending: map[ast.Node][]edit{},
			skip: skip[name], seen: map[string]int{}, mutants: &p.mutants,
		}
		sources[path] = in.instrumented(file)
	}
	sources[filepath.Join(pkg.Dir, "mutation_switch.go")] = []byte("package " + pkg.Name + "\n\n" +
		strings.Replace(switches, "SITES", strconv.Itoa(len(p.mutants)+1), 1))
	return sources, nil
}
