package admission

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// meant says which field may have been meant by one that is unknown; "" if none is
// alike: the sibling that is spelled most alike, else a field of that name elsewhere.
func (a *Admission) meant(path string) string {
	parent, name := "", path
	if i := strings.LastIndex(path, "."); i >= 0 {
		parent, name = path[:i], path[i+1:]
	}
	siblings := slices.Sorted(maps.Keys(fieldsOf(a.at(parent))))
	if like := mostAlike(name, siblings); like != "" {
		return "; did you mean " + like + "?"
	}
	if places := a.places(name); len(places) > 0 {
		return "; a field of that name exists at " + strings.Join(places, ", ")
	}
	if len(siblings) > 0 {
		return "; the fields here are " + strings.Join(siblings, ", ")
	}
	return ""
}

// at is the schema of what is at a path; nil if there is none.
func (a *Admission) at(path string) *schema.Structural {
	s := a.structure
	for _, name := range segments(path) {
		switch {
		case s == nil:
			return nil
		case strings.HasPrefix(name, "["):
			s = s.Items
		default:
			s = child(s, name)
		}
	}
	return s
}

// child is the schema of a field; nil if there is none.
func child(s *schema.Structural, name string) *schema.Structural {
	if below, ok := s.Properties[name]; ok {
		return &below
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Structural
	}
	return nil
}

var segment = regexp.MustCompile(`\[[^]]*\]|[^.[]+`)

// segments divides a path at its dots and before its brackets.
func segments(path string) []string { return segment.FindAllString(path, -1) }

func fieldsOf(s *schema.Structural) map[string]schema.Structural {
	if s == nil {
		return nil
	}
	return s.Properties
}

// describe is what the definition says of a field; "" if it says nothing.
func (a *Admission) describe(path string) string {
	if s := a.at(path); s != nil {
		return strings.Join(strings.Fields(s.Description), " ")
	}
	return ""
}

// firstSentence is the text up to its first full stop, and the example in it if there is
// one.
func firstSentence(text string) string {
	first, rest, _ := strings.Cut(text, ". ")
	if _, example, ok := strings.Cut(rest, "Example: "); ok {
		example, _, _ = strings.Cut(example, ". ")
		first += ", for example " + example
	}
	return strings.TrimSuffix(first, ".")
}

// places are up to three paths of spec at which a field of that name is.
func (a *Admission) places(name string) []string {
	var found []string
	var look func(path string, s *schema.Structural)
	look = func(path string, s *schema.Structural) {
		if s == nil {
			return
		}
		look(path+"[]", s.Items)
		for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
			below := s.Properties[key]
			if key == name {
				found = append(found, path+"."+key)
			}
			look(path+"."+key, &below)
		}
	}
	spec := a.structure.Properties["spec"]
	look("spec", &spec)
	const enough = 3
	return found[:min(len(found), enough)]
}

// mostAlike is the candidate with the fewest changes of a letter to the name, "" if each
// needs more than a third of the name's letters.
func mostAlike(name string, candidates []string) string {
	best, least := "", len(name)/3+1
	for _, candidate := range candidates {
		if n := changes(strings.ToLower(name), strings.ToLower(candidate)); n < least || n == least && best == "" {
			best, least = candidate, n
		}
	}
	return best
}

// changes is the edit distance of two words in which two letters that changed places are
// one change (optimal string alignment).
func changes(a, b string) int {
	before, last := []int(nil), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
