package admission

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/loadtest-dev/loadtest-operator/text"
)

// habits are fields that people write by habit and that there are not, each with what is written
// instead.
var habits = []struct {
	path *regexp.Regexp
	says string
}{
	{regexp.MustCompile(`^spec\.(workers|replicas|worker\.(count|replicas|parallelism))$`), "write spec.parallelism, which is how many workers the run has"},
	{regexp.MustCompile(`\.service\.namespace$`), "a Service of another namespace is written as url: http://NAME.NAMESPACE.svc:PORT, in place of service"},
	{regexp.MustCompile(`^spec\.preflight\[\d+\]\.target$`), "preflight asks spec.target alone"},
	{regexp.MustCompile(`^spec\.search\.(arrivals|ratePerUser)$`), "a search sends evenly, as many as it looks for"},
}

// meant says which field may have been meant by one that is unknown; "" if none is
// alike: what is written in the place of a habit; one of that name a level below or above, else the sibling that is spelled most
// alike, else all siblings if they are few, else a field of that name elsewhere.
func (a *Admission) meant(path string) string {
	for _, h := range habits {
		if h.path.MatchString(path) {
			return "; " + h.says
		}
	}
	parent, name := "", path
	if i := strings.LastIndex(path, "."); i >= 0 {
		parent, name = path[:i], path[i+1:]
	}
	if near := a.near(parent, name); len(near) > 0 {
		return "; did you mean " + strings.Join(near, " or ") + "?"
	}
	siblings := slices.Sorted(maps.Keys(fieldsOf(a.at(parent))))
	if like := text.MostAlike(name, siblings); like != "" {
		return "; did you mean " + like + "?"
	}
	const few = 8 // more are no help beside a field of the very name
	places := a.places(name)
	switch {
	case len(siblings) > 0 && (len(siblings) <= few || len(places) == 0):
		return "; the fields here are " + strings.Join(siblings, ", ")
	case len(places) > 0:
		return "; a field of that name exists at " + strings.Join(places, ", ")
	}
	return ""
}

// near are the fields of that name in the fields of an object, by their paths from there, and
// in the object around it; none, if they are more than four.
func (a *Admission) near(parent, name string) (found []string) {
	siblings := fieldsOf(a.at(parent))
	for _, sibling := range slices.Sorted(maps.Keys(siblings)) {
		s := siblings[sibling]
		if _, ok := s.Properties[name]; ok {
			found = append(found, sibling+"."+name)
		} else if s.Items != nil {
			if _, ok := s.Items.Properties[name]; ok {
				found = append(found, sibling+"[]."+name)
			}
		}
	}
	if i := strings.LastIndex(parent, "."); i >= 0 {
		if _, ok := fieldsOf(a.at(parent[:i]))[name]; ok {
			found = append(found, parent[:i]+"."+name)
		}
	}
	const most = 4
	if len(found) > most {
		return nil
	}
	return found
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
func firstSentence(said string) string {
	first, rest, _ := strings.Cut(said, ". ")
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
