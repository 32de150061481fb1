package policy

import (
	"fmt"
	"strings"

	config "github.com/loadtest-dev/loadtest-operator/api/config/v1alpha1"
)

// Priorities are the classes that a LoadTest of one namespace may name for its place in
// the queue. The zero value has no queue, and takes any class.
type Priorities struct {
	queue   bool
	classes []config.PriorityClass
}

func (p *Policy) priorities(namespace string) Priorities {
	all := Priorities{queue: true}
	for _, c := range p.config.PriorityClasses {
		if selects(c.Namespaces, namespace) {
			all.classes = append(all.classes, c)
		}
	}
	return all
}

// Value is the priority of a class; that of none is 0.
func (p Priorities) Value(class string) (value int32, ok bool) {
	if class == "" || !p.queue {
		return 0, true
	}
	for _, c := range p.classes {
		if c.Name == class {
			return c.Value, true
		}
	}
	return 0, false
}

// Names are those of the classes, as a sentence lists them; empty: there are none.
func (p Priorities) Names() string {
	names := make([]string, len(p.classes))
	for i, c := range p.classes {
		names[i] = c.Name
	}
	return strings.Join(names, ", ")
}

func checkPriorities(classes []config.PriorityClass) error {
	for i, c := range classes {
		if c.Name == "" {
			return fmt.Errorf("priorityClasses[%d].name: must be set; LoadTests name it in spec.queue.priorityClass", i)
		}
	}
	return nil
}
