package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path"
	"slices"
	"strings"
)

// graph are the packages that are imported, by importer. Paths of this module
// are without its name; the standard library's packages import nothing here.
type graph map[string][]string

// load lists the packages of the module in dir and all that they depend on.
func load(dir string) (graph, error) {
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports,Standard", "./...")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, &stderr)
	}
	return decode(bytes.NewReader(out))
}

func decode(r io.Reader) (graph, error) {
	g := graph{}
	for d := json.NewDecoder(r); ; {
		var p struct {
			ImportPath string
			Imports    []string
			Standard   bool
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return g, nil
		} else if err != nil {
			return nil, fmt.Errorf("decode go list's output: %w", err)
		}
		if p.Standard {
			p.Imports = nil
		}
		for i := range p.Imports {
			p.Imports[i] = short(p.Imports[i])
		}
		g[short(p.ImportPath)] = p.Imports
	}
}

func short(importPath string) string { return strings.TrimPrefix(importPath, ours+"/") }

// matches reports whether a path is one of the patterns.
func matches(patterns []string, importPath string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if prefix, below := strings.CutSuffix(pattern, "/..."); below {
			return importPath == prefix || strings.HasPrefix(importPath, prefix+"/")
		}
		ok, err := path.Match(pattern, importPath)
		return err == nil && ok
	})
}

// subjects are the packages that the rule is about.
func (r rule) subjects(g graph) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(g)), func(p string) bool {
		return !matches(r.of, p) || matches(r.except, p)
	})
}

// idle are the rule's paths of importers that no package has: after a move they
// would keep nothing.
func (r rule) idle(g graph) []string {
	var found []string
	for _, pattern := range slices.Concat(r.of, r.except) {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(g)), func(p string) bool { return matches([]string{pattern}, p) }) {
			found = append(found, pattern)
		}
	}
	return found
}

// violations are sentences that name the importer, the import and how the one
// comes to the other.
func (r rule) violations(g graph) []string {
	var found []string
	for _, p := range r.subjects(g) {
		for _, chain := range r.chains(g, p) {
			target := chain[len(chain)-1]
			if !matches(r.forbid, target) || matches(r.allow, target) {
				continue
			}
			s := fmt.Sprintf("%s %s %s", p, r.reach, target)
			if len(chain) > 2 {
				s += fmt.Sprintf(" (%s)", strings.Join(chain, " → "))
			}
			found = append(found, s)
		}
	}
	return found
}

// chains are the shortest ways from a package to each of the imports that the
// rule looks at. Under a forbidden import it does not look on: what comes with
// that is forbidden for the same reason.
func (r rule) chains(g graph, from string) [][]string {
	var all [][]string
	seen := map[string]bool{from: true}
	for queue := [][]string{{from}}; len(queue) > 0; queue = queue[1:] {
		chain := queue[0]
		last := chain[len(chain)-1]
		if len(chain) > 1 {
			all = append(all, chain)
			if r.reach == direct || matches(r.forbid, last) && !matches(r.allow, last) {
				continue
			}
		}
		for _, next := range g[last] {
			if !seen[next] {
				seen[next] = true
				queue = append(queue, append(slices.Clone(chain), next))
			}
		}
	}
	return all
}

// targetViolations keeps the rule of the targets, whose packages are known by
// their place: targets/NAME is a domain and uses the standard library only;
// targets/NAME/TECHNOLOGY imports of ours its domain and no sibling;
// targets/NAME/cmd wires them; no target imports another, and what they share
// is in targets/internal.
func targetViolations(g graph, standard func(importPath string) bool) []string {
	var found []string
	for _, p := range slices.Sorted(maps.Keys(g)) {
		parts := strings.Split(p, "/")
		if len(parts) < 2 || parts[0] != "targets" || parts[1] == "internal" {
			continue
		}
		domain := path.Join(parts[:2]...)
		for _, imported := range g[p] {
			own := matches([]string{domain, domain + "/..."}, imported)
			shared := matches([]string{"targets/internal/..."}, imported)
			below := strings.HasPrefix(imported, p+"/")
			switch {
			case p == domain && !standard(imported):
				found = append(found, fmt.Sprintf("%s imports %s: a domain uses the standard library only", p, imported))
			case matches(everything, imported) && !own && !shared:
				found = append(found, fmt.Sprintf("%s imports %s: a target imports nothing but its own packages and targets/internal", p, imported))
			case own && imported != domain && !below && !matches([]string{domain + "/cmd/..."}, p):
				found = append(found, fmt.Sprintf("%s imports %s: only a target's cmd may see several of its technologies", p, imported))
			}
		}
	}
	return found
}

// isStandard tells the standard library by the first element, which has a dot
// in every other module's path.
func isStandard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".") && !matches(everything, importPath)
}
