package templates

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
)

// Problem is a mistake, and the field that has it, such as spec.requests[0].http.path.
type Problem struct{ Field, Message string }

// Keys returns the value of a key of a ConfigMap; false: it is not known here.
type Keys func(v1beta1.KeyReference) ([]byte, bool)

// Check returns the mistakes. With a table whose rows are not known, any name may be one of its
// columns.
func Check(spec *v1beta1.LoadTestSpec, keys Keys) []Problem {
	c := &check{spec: spec, keys: keys, captured: map[string]bool{}, columns: map[string]bool{}, tables: map[string][]string{}, complete: true,
		rows: map[string]*source.Table{}, refused: map[string]bool{}}
	c.define()
	c.headers("spec.target.headers", spec.Target.Headers)
	for i := range spec.OtherTargets {
		c.headers(fmt.Sprintf("spec.otherTargets[%d].headers", i), spec.OtherTargets[i].Headers)
	}
	uses := map[string][]string{}
	for i := range spec.Requests {
		r := &spec.Requests[i]
		names := append(c.request(fmt.Sprintf("spec.requests[%d]", i), r), c.inherited(r)...)
		slices.Sort(names)
		names = slices.Compact(names)
		uses[r.Name] = names
		if at := slices.IndexFunc(names, c.isCaptured); at >= 0 && plan.InMix(spec, r) {
			c.add(fmt.Sprintf("spec.requests[%d].weight", i), "must be 0: ${%s} is captured by a journey, which alone may send the request", names[at])
		}
	}
	c.setup(uses)
	c.journeys(uses)
	return append(c.problems, questions(spec)...)
}

// questions checks the requests of preflight and audits, which have no columns.
func questions(spec *v1beta1.LoadTestSpec) []Problem {
	c := &check{spec: spec, complete: true}
	c.preflight("spec.preflight", spec.Preflight)
	own := ownHeaders(spec.Preflight)
	for i := range spec.Audits {
		if stored := spec.Audits[i].Stored; stored != nil {
			field, read := fmt.Sprintf("spec.audits[%d].stored.read", i), &stored.Read
			c.query(field+".http", read.HTTP)
			c.call(field+".grpc", read.GRPC)
			own = append(own, read.OwnHeaders())
		}
	}
	c.targetHeaders("spec.target.headers", spec.Target.Headers, own)
	if v := spec.Versus; v != nil {
		c.preflight("spec.versus.preflight", v.Preflight)
		asked := v.Preflight
		if len(asked) == 0 {
			asked = spec.Preflight
		}
		at := slices.IndexFunc(spec.OtherTargets, func(o v1beta1.OtherTarget) bool { return spec.IsControl(o.Name) })
		if at >= 0 {
			c.targetHeaders(fmt.Sprintf("spec.otherTargets[%d].headers", at), spec.OtherTargets[at].Headers, ownHeaders(asked))
		}
	}
	return c.problems
}

// check is what is known of a spec, and what is wrong with it so far.
type check struct {
	spec *v1beta1.LoadTestSpec
	keys Keys
	// columns has the names of the columns of all tables, and the names that setup.fill captures.
	columns map[string]bool
	// captured has the names that journeys capture.
	captured map[string]bool
	// tables are the columns of the tables whose rows are known, by the name of the table.
	tables map[string][]string
	// rows are the tables whose rows are known, by the names of their columns.
	rows map[string]*source.Table
	// refused are the columns of which a value was refused where it stands.
	refused map[string]bool
	// complete says that the columns of all tables are known.
	complete bool
	problems []Problem
}

func (c *check) add(field, format string, values ...any) {
	c.problems = append(c.problems, Problem{field, fmt.Sprintf(format, values...)})
}

// define notes what templates may name.
func (c *check) define() {
	for i := range c.spec.Data {
		c.table(fmt.Sprintf("spec.data[%d]", i), &c.spec.Data[i])
	}
	if setup := c.spec.Setup; setup != nil && setup.Fill != nil {
		for name := range setup.Fill.Capture {
			c.columns[name] = true
		}
	}
	for _, j := range c.spec.Journeys {
		for _, s := range j.Steps {
			for _, name := range captures(&s) {
				c.captured[name] = true
			}
		}
	}
}

// table notes the columns of a table.
func (c *check) table(field string, d *v1beta1.Data) {
	var rows []byte
	known := d.From.ConfigMap != nil
	if known {
		rows, known = c.keys(*d.From.ConfigMap)
	}
	if !known {
		c.complete = false
		return
	}
	format := source.CSV
	if d.Format == v1beta1.DataFormatJSONLines {
		format = source.JSONLines
	}
	table, err := source.ReadTable(bytes.NewReader(rows), source.File{Name: d.Name, Path: d.From.ConfigMap.Key + " of ConfigMap " + string(d.From.ConfigMap.Name), Format: format, Workers: 1})
	if err != nil {
		c.complete = false
		c.add(field, "%v", err)
		return
	}
	c.tables[d.Name] = table.Columns()
	for _, name := range table.Columns() {
		if c.columns[name] {
			c.add(field, "%s is a column of another table too: a column belongs to one table only", name)
		}
		c.columns[name], c.rows[name] = true, table
	}
}

// stand checks the values of columns where they stand, as a worker does.
func (c *check) stand(field string, names []string, allowed func(t *source.Table, column string) error) {
	for _, name := range names {
		table := c.rows[name]
		if table == nil || c.refused[name] {
			continue
		}
		if err := allowed(table, name); err != nil {
			c.refused[name] = true
			c.add(field, "${%s}: %v", name, err)
		}
	}
}

// isCaptured says whether a name is a value of journeys alone.
func (c *check) isCaptured(name string) bool { return c.captured[name] && !c.columns[name] }

// setup checks the requests of the setup, which follow no journey.
func (c *check) setup(uses map[string][]string) {
	if c.spec.Setup == nil {
		return
	}
	alone := func(field, request string) {
		if at := slices.IndexFunc(uses[request], c.isCaptured); at >= 0 {
			c.add(field, "%s has ${%s}, which is captured by a journey, which alone may send the request", request, uses[request][at])
		}
	}
	if fill := c.spec.Setup.Fill; fill != nil {
		alone("spec.setup.fill.request", fill.Request)
		for _, name := range uses[fill.Request] {
			if _, itself := fill.Capture[name]; itself {
				c.add("spec.setup.fill.request", "%s has ${%s}, which it captures itself", fill.Request, name)
			}
		}
	}
	if warmUp := c.spec.Setup.WarmUp; warmUp != nil {
		alone("spec.setup.warmUp.request", warmUp.Request)
	}
}

// journeys checks that each captured value is captured before it is used, and the conditions that name
// columns: the others were checked with the plan.
func (c *check) journeys(uses map[string][]string) {
	for i := range c.spec.Journeys {
		j := &c.spec.Journeys[i]
		known := map[string]bool{}
		for k := range j.Steps {
			s := &j.Steps[k]
			for _, name := range uses[s.RequestName()] {
				if s.RequestName() != "" && c.isCaptured(name) && !known[name] {
					field := "request"
					if s.Repeat != nil {
						field = "repeat.request"
					}
					c.add(fmt.Sprintf("spec.journeys[%d].steps[%d].%s", i, k, field), "%s has ${%s}, which no step before it captures", s.RequestName(), name)
				}
			}
			for _, name := range captures(s) {
				known[name] = true
			}
		}
		if j.User == nil || c.tables[j.User.Data] == nil {
			continue
		}
		if err := plan.CheckConditions(c.spec, i, c.tables[j.User.Data]); err != nil {
			field, message, _ := strings.Cut(err.Error(), ": ")
			c.add(field, "%s", message)
		}
	}
}

// captures are the names that a step of a journey captures.
func captures(s *v1beta1.JourneyStep) []string {
	capture, from := s.Captures()
	names := slices.Collect(maps.Keys(capture))
	for i := range from {
		names = append(names, from[i].Name)
	}
	return names
}

func (c *check) preflight(field string, list []v1beta1.Preflight) {
	for i := range list {
		c.query(fmt.Sprintf("%s[%d].http", field, i), list[i].HTTP)
		c.call(fmt.Sprintf("%s[%d].grpc", field, i), list[i].GRPC)
	}
}

// ownHeaders are the headers that each question of preflight has of its own.
func ownHeaders(list []v1beta1.Preflight) (own [][]v1beta1.Header) {
	for i := range list {
		own = append(own, list[i].OwnHeaders())
	}
	return own
}

// targetHeaders checks the headers of a target that at least one question has from it; own are
// the headers that each question has itself.
func (c *check) targetHeaders(field string, headers []v1beta1.Header, own [][]v1beta1.Header) {
	for i, h := range headers {
		if h.Value == nil || !slices.ContainsFunc(own, func(list []v1beta1.Header) bool { return !hasHeader(list, h.Name) }) {
			continue
		}
		if names, _, err := source.Names(*h.Value); err == nil && len(names) > 0 {
			c.add(fmt.Sprintf("%s[%d].value", field, i),
				"${%s} must not stand here with preflight or audits: they are sent with the headers of the target and have no columns; move the header to the requests", names[0])
		}
	}
}

// targetHeaders are those that a request has from its target, and their field.
func targetHeaders(spec *v1beta1.LoadTestSpec, r *v1beta1.Request) (field string, headers []v1beta1.Header) {
	for i := range spec.OtherTargets {
		if other := &spec.OtherTargets[i]; r.Target != "" && other.Name == r.Target {
			return fmt.Sprintf("spec.otherTargets[%d].headers", i), other.Headers
		}
	}
	return "spec.target.headers", spec.Target.Headers
}

// inherited are the names in the headers that a request has from the targets.
func (c *check) inherited(r *v1beta1.Request) (names []string) {
	own := r.OwnHeaders()
	add := func(field string, headers []v1beta1.Header) {
		for i, h := range headers {
			if h.Value != nil && !hasHeader(own, h.Name) {
				found, _, _ := source.Names(*h.Value) // checked where the header stands
				c.stand(fmt.Sprintf("%s[%d].value", field, i), found, (*source.Table).CheckInHeader)
				names = append(names, found...)
			}
		}
	}
	add(targetHeaders(c.spec, r))
	for i := range c.spec.OtherTargets {
		if other := &c.spec.OtherTargets[i]; r.Target == "" && c.spec.IsControl(other.Name) {
			add(fmt.Sprintf("spec.otherTargets[%d].headers", i), other.Headers)
		}
	}
	return names
}

func hasHeader(list []v1beta1.Header, name string) bool {
	return slices.ContainsFunc(list, func(h v1beta1.Header) bool { return strings.EqualFold(h.Name, name) })
}

func (c *check) query(field string, q *v1beta1.Query) {
	if q != nil {
		c.template(field+".path", q.Path)
		c.headers(field+".headers", q.Headers)
	}
}
