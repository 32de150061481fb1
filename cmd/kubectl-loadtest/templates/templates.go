package templates

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/plan"
	"github.com/loadtest-dev/loadtest-operator/loadworker/source"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Problem is a mistake, and the field that has it, such as spec.requests[0].http.path.
type Problem struct{ Field, Message string }

// Keys returns the value of a key of a ConfigMap; false: it is not known here.
type Keys func(v1beta1.KeyReference) ([]byte, bool)

// Check returns the mistakes. With a table whose rows are not known, any name may be one of its
// columns.
func Check(spec *v1beta1.LoadTestSpec, keys Keys) []Problem {
	c := &check{spec: spec, keys: keys, captured: map[string]bool{}, columns: map[string]bool{}, tables: map[string][]string{}, complete: true}
	c.define()
	c.headers("spec.target.headers", spec.Target.Headers)
	for i := range spec.OtherTargets {
		c.headers(fmt.Sprintf("spec.otherTargets[%d].headers", i), spec.OtherTargets[i].Headers)
	}
	uses := map[string][]string{}
	for i := range spec.Requests {
		r := &spec.Requests[i]
		names := append(c.request(fmt.Sprintf("spec.requests[%d]", i), r), inherited(spec, r)...)
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
	table, err := source.ReadTable(bytes.NewReader(rows), source.File{Name: d.Name, Path: d.From.ConfigMap.Key, Format: format, Workers: 1})
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
		c.columns[name] = true
	}
}

// isCaptured says whether a name is a value of journeys alone.
func (c *check) isCaptured(name string) bool { return c.captured[name] && !c.columns[name] }

// request checks the templates of a request, and returns the names in them.
func (c *check) request(field string, r *v1beta1.Request) []string {
	h := r.HTTP
	if r.WebSocket != nil {
		return c.webSocket(field+".webSocket", r.WebSocket)
	}
	if h == nil {
		return c.call(field+".grpc", r.GRPC)
	}
	field += ".http"
	names := c.template(field+".path", h.Path)
	names = append(names, c.headers(field+".headers", h.Headers)...)
	names = append(names, c.template(field+".body", h.Body)...)
	for i := range h.Form {
		if value := h.Form[i].Value; value != nil {
			names = append(names, c.template(fmt.Sprintf("%s.form[%d].value", field, i), *value)...)
		}
	}
	if h.BodyFrom != nil && h.BodyFrom.ConfigMap != nil && len(h.Form) == 0 { // a field of a form has it as it is
		if body, known := c.keys(*h.BodyFrom.ConfigMap); known {
			names = append(names, c.template(field+".bodyFrom", string(body))...)
		}
	}
	if !expectsRefusal(r.Expect) {
		c.json(field, h, targetHeaders(c.spec, r))
	}
	return names
}

// webSocket checks the templates of a connection of WebSocket.
func (c *check) webSocket(field string, s *v1beta1.WebSocket) []string {
	names := append(c.template(field+".path", s.Path), c.headers(field+".headers", s.Headers)...)
	for i, message := range s.Send {
		names = append(names, c.template(fmt.Sprintf("%s.send[%d]", field, i), message)...)
	}
	return names
}

// call checks the templates of a call: the strings of its messages, and its metadata.
func (c *check) call(field string, call *v1beta1.Call) (names []string) {
	if call == nil {
		return nil
	}
	if call.Message != nil {
		names = append(names, c.message(field+".message", call.Message.Raw)...)
	}
	for i := range call.Messages {
		names = append(names, c.message(fmt.Sprintf("%s.messages[%d]", field, i), call.Messages[i].Raw)...)
	}
	return append(names, c.headers(field+".metadata", call.Metadata)...)
}

// message checks the strings of a message.
func (c *check) message(field string, raw []byte) []string {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return nil // the API server has read it
	}
	return c.value(field, value)
}

func (c *check) value(field string, value any) (names []string) {
	switch v := value.(type) {
	case string:
		return c.template(field, v)
	case []any:
		for i, below := range v {
			names = append(names, c.value(fmt.Sprintf("%s[%d]", field, i), below)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			names = append(names, c.value(field+"."+key, v[key])...)
		}
	}
	return names
}

func (c *check) headers(field string, headers []v1beta1.Header) (names []string) {
	for i, h := range headers {
		if h.Value != nil {
			names = append(names, c.template(fmt.Sprintf("%s[%d].value", field, i), *h.Value)...)
		}
	}
	return names
}

// template checks a template, and returns the names in it.
func (c *check) template(field, template string) []string {
	names, _, err := source.Names(template)
	if err != nil {
		c.add(field, "%v", err)
		return nil
	}
	for _, name := range names {
		if c.complete && !c.columns[name] && !c.captured[name] {
			c.add(field, "nothing defines ${%s}%s", name, c.meant(name))
		}
	}
	return names
}

// meant says what a name that nothing defines may mean.
func (c *check) meant(name string) string {
	known := []string{"user", "seq", "worker", "uuid"}
	for _, names := range []map[string]bool{c.columns, c.captured} {
		known = append(known, slices.Sorted(maps.Keys(names))...)
	}
	if like := text.MostAlike(name, known); like != "" {
		return "; did you mean ${" + like + "}?"
	}
	return "; known are ${" + strings.Join(known, "}, ${") + "} and ${rand:a-b}; write $$ for a dollar sign"
}

// json checks that a body is JSON if its Content-Type says so. Of a body in which a column stands outside of a string nothing is
// known: its cells may be parts of JSON.
func (c *check) json(field string, r *v1beta1.HTTPRequest, ofTarget []v1beta1.Header) {
	if r.Body == "" || !saysJSON(r, ofTarget) {
		return
	}
	names, sample, err := source.Names(r.Body)
	if err != nil || hasBareName(r.Body, names) {
		return
	}
	if err := readJSON(sample); err != nil {
		c.add(field+".body", "is no JSON, as its Content-Type says it is: %v", err)
	}
}

// readJSON reads one value, or several, one after another, as bulk interfaces take them.
func readJSON(body string) error {
	in := json.NewDecoder(strings.NewReader(body))
	for {
		var value json.RawMessage
		switch err := in.Decode(&value); err {
		case nil:
		case io.EOF:
			return nil
		default:
			return err
		}
	}
}

// hasBareName says whether a variable of a name stands outside of the strings of a body.
func hasBareName(body string, names []string) bool {
	inside := false
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '\\':
			i++
		case '"':
			inside = !inside
		case '$':
			if !inside && slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(body[i:], "${"+name+"}") }) {
				return true
			}
		}
	}
	return false
}

// saysJSON says whether the Content-Type of a request is that of JSON: its own, or its target's.
func saysJSON(r *v1beta1.HTTPRequest, ofTarget []v1beta1.Header) bool {
	for _, headers := range [][]v1beta1.Header{r.Headers, ofTarget} {
		for _, h := range headers {
			if strings.EqualFold(h.Name, "Content-Type") {
				media := ""
				if h.Value != nil {
					media, _, _ = strings.Cut(strings.ToLower(*h.Value), ";")
				}
				media = strings.TrimSpace(media)
				return media == "application/json" || strings.HasSuffix(media, "+json")
			}
		}
	}
	return false
}

// expectsRefusal says whether a status from 400 to 499 is expected.
func expectsRefusal(e *v1beta1.Expectation) bool {
	return e != nil && slices.ContainsFunc(e.Status, func(status int32) bool { return status >= 400 && status < 500 })
}

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

// targetHeaders are those that a request has from its target.
func targetHeaders(spec *v1beta1.LoadTestSpec, r *v1beta1.Request) []v1beta1.Header {
	for i := range spec.OtherTargets {
		if other := &spec.OtherTargets[i]; r.Target != "" && other.Name == r.Target {
			return other.Headers
		}
	}
	return spec.Target.Headers
}

// inherited are the names in the headers that a request has from the targets.
func inherited(spec *v1beta1.LoadTestSpec, r *v1beta1.Request) (names []string) {
	own, headers := r.OwnHeaders(), targetHeaders(spec, r)
	if control := spec.Control(); control != nil && r.Target == "" {
		headers = slices.Concat(headers, control.Headers)
	}
	for _, h := range headers {
		if h.Value != nil && !hasHeader(own, h.Name) {
			found, _, _ := source.Names(*h.Value) // checked where the header stands
			names = append(names, found...)
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
