package expression

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"

	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// given are values by name.
type given map[string]Value

// user has the values of a scope.
type user struct {
	scope *Scope
	given given
}

func (u user) Value(index int) Value { return u.given[u.scope.names[index]] }

func number(text string) Value { return Value{Number, []byte(text)} }
func str(text string) Value    { return Value{String, []byte(text)} }
func object(text string) Value { return Value{Composite, []byte(text)} }

// shop is a scope with a value of each kind.
func shop() *Scope {
	s := NewScope(map[string]string{"city": FromTable("addresses"), "late": NotBefore}, false)
	s.Add(Status, Code, false)
	s.Add("paid", JSON, false)
	s.Add("total", JSON, false)
	s.Add("order", JSON, false)
	s.Add("etag", Text, false)
	s.Add("seat", Text, true)
	s.AddColumn("tier")
	return s
}

// ordered are the values of a user of the shop.
var ordered = given{
	Status: number("202"), "paid": {Bool, []byte("true")}, "total": number("12.5"), "etag": str("17"), "tier": str("gold"),
	"order": object(`{"id": 9007199254740993, "items": [{"price": 3, "tags": ["a", "b"]}], "note": null, "sum": 1e2}`),
}

func TestConditions(t *testing.T) {
	for condition, want := range map[string]bool{
		"paid":                                true,
		"paid == true":                        true,
		"paid != true":                        false,
		"!paid || status == 202":              true,
		"status in [200, 202]":                true,
		"status >= 200 && status < 300":       true,
		"total > 10":                          true,
		"total == 12.5 && total < 13":         true,
		"total * 2.0 == 25.0":                 true,
		"tier == 'gold'":                      true,
		"tier in ['silver', 'bronze']":        false,
		"tier.startsWith('go')":               true,
		"tier.endsWith('ld')":                 true,
		"tier.contains('ol')":                 true,
		"size(tier) == 4":                     true,
		"tier.size() == 4":                    true,
		"tier + '!' == 'gold!'":               true,
		"int(etag) % 2 == 1":                  true,
		"double(etag) > 16.5":                 true,
		"string(status) == '202'":             true,
		"seat == null":                        true,
		"seat != null && seat == '7'":         false,
		"has(order.id)":                       true,
		"has(order.paid) && order.paid":       false,
		"order.id == 9007199254740993":        true, // which no double holds
		"order.sum == 100":                    true,
		"order.note == null":                  true,
		"size(order.items) == 1":              true,
		"order.items[0].price > 2":            true,
		"'b' in order.items[0].tags":          true,
		"'id' in order":                       true,
		"order == order":                      true,
		"paid ? total > 10 : false":           true,
		"paid || order.missing == 1":          true, // as in any language, the rest is not asked
		"{'gold': 1, 'silver': 2}[tier] == 1": true,
	} {
		s := shop()
		c, err := s.Compile(condition)
		must.Succeed(t, err)
		if got, err := c.Holds(user{s, ordered}); err != nil || got != want {
			t.Errorf("%s: %t, %v; want %t", condition, got, err, want)
		}
	}
}

// Each is refused before a request is sent, with its reason.
func TestConditionsThatAreRefused(t *testing.T) {
	for condition, want := range map[string]string{
		"":                       "is no condition at character",
		"tier ==":                "is no condition at character 8: mismatched input '<EOF>'",
		"tier = 'gold'":          "is no condition at character 6: token recognition error at: '= '",
		"package == 1":           "is no condition at character 1: reserved identifier: package",
		"totl > 10":              "totl is not defined here; did you mean total?",
		"tierr == 'gold'":        "tierr is not defined here; known are etag, order, paid, seat, status, total, the columns of user.data",
		"nothing":                "nothing is not defined here; known are etag, order,",
		"a.b.c == 1":             "a is not defined here",
		".tier == 'gold'":        ".tier is not defined here",
		"city == 'Rome'":         "city is a column of addresses, of which each request takes a row of its own; a condition has the columns of the journey's user.data",
		"late == 1":              "late is captured by no step of the journey before this one",
		"uuid == 'x'":            "uuid is a variable of requests, which conditions do not have",
		"status":                 "is of type int; a condition must be true or false, such as status == 200",
		"'true'":                 "is of type string; a condition must be true or false",
		"tier > 3":               "has types at character 6 that > does not take: (string, int); int(), double() and string() convert",
		"status == '200'":        "has types at character 8 that == does not take: (int, string)",
		"tier == null":           "has types at character 6 that == does not take: (string, null)",
		"tier.size(1) == 2":      "has types at character 10 that size does not take",
		"tier.matches('(a+)+')":  "matches() is not accepted: no small bound holds for the time of a regular expression; capture what matches with captureFrom, or use contains, startsWith or endsWith",
		"matches(tier, 'a')":     "matches() is not accepted",
		"order.exists(i, i > 3)": "exists() is not a function of conditions; known are size, contains, startsWith, endsWith, int, double, string and has",
		"order.all(i, order.all(j, order.all(k, k > 0)))":                    "all() is not a function of conditions",
		"order.map(i, order) == []":                                          "map() is not a function of conditions",
		"order.filter(i, true).size() > 0":                                   "filter() is not a function of conditions",
		"[1].exists_one(i, i == 1)":                                          "exists_one() is not a function of conditions",
		"cel.bind(x, tier + tier, x == '')":                                  "bind() is not a function of conditions",
		"timestamp(tier) < timestamp(etag)":                                  "timestamp() is not a function of conditions",
		"duration(tier) > duration('1s')":                                    "duration() is not a function of conditions",
		"type(tier) == string":                                               "type() is not a function of conditions",
		"dyn(tier) == 3":                                                     "dyn() is not a function of conditions",
		"bytes(tier) == b''":                                                 "bytes() is not a function of conditions",
		"google.protobuf.Struct{} == order":                                  "has an object of a type; use values, lists and maps",
		"has(tier)":                                                          "is no condition at character 5: invalid argument to has() macro",
		"tier" + strings.Repeat(" + tier", 60) + " == ''":                    "units with values of 4096 bytes, at most 10000 are accepted",
		"order" + strings.Repeat(" + order", 60) + " == ''":                  "units with values of 4096 bytes, at most 10000 are accepted",
		strings.Repeat("order == order && ", 28) + "paid":                    "units with values of 4096 bytes, at most 10000 are accepted",
		strings.Repeat("(", 90) + "paid" + strings.Repeat(")", 90):           "expression recursion limit exceeded: 64",
		strings.Repeat("!", 400) + "paid":                                    "",
		strings.Repeat("[", 90) + strings.Repeat("]", 90) + " == []":         "expression recursion limit exceeded: 64",
		strings.Repeat("x", MaxLength+1):                                     "has 513 bytes, at most 512 are accepted",
		"status == 1 || \xff":                                                "is no condition at character",
		"tier == 'a\x00b' && status == 18446744073709551616":                 "is no condition at character",
		"status == 1 || paid || total == 1 || order == 1 || etag == '' || a": "a is not defined here",
	} {
		s := shop()
		if _, err := s.Compile(condition); want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.60q: %v\nwant %s", condition, err, want)
		}
	}
}

func TestAConditionNamesFewValues(t *testing.T) {
	s := NewScope(nil, false)
	var all []string
	for _, name := range strings.Split("abcdefghi", "") {
		s.Add(name, JSON, false)
		all = append(all, name)
	}
	if _, err := s.Compile(strings.Join(all[:maxNames], " || ")); err != nil {
		t.Error(err)
	}
	if _, err := s.Compile(strings.Join(all, " || ")); err == nil || err.Error() != "names 9 values, at most 8 are accepted" {
		t.Error(err)
	}
}

// An evaluation without a result is an error, and shows no value.
func TestConditionsWithoutAResult(t *testing.T) {
	for condition, want := range map[string]string{
		"total / 0.0 > 1.0 && total > 10 + 'x'": "",
		"1 / (status - 202) > 0":                "a number is divided by zero (status is a number)",
		"1 % (status - 202) > 0":                "a number is divided by zero (status is a number)",
		"order.id * 9007199254740993 > 0":       "a number is too large (order is an object or a list)",
		"order.paid":                            "a key is not there; ask with has() first (order is an object or a list)",
		"order.items[7].price > 0":              "an item of a list is not there; ask with size() first (order is an object or a list)",
		"paid > 3":                              "an operator does not take the types of these values (paid is true or false)",
		"total + 1 == 2":                        "an operator does not take the types of these values (total is a number)",
		"seat > 'a'":                            "an operator does not take the types of these values (seat is null)",
		"seat.contains('a')":                    "an operator does not take the types of these values (seat is null)",
		"int(tier) == 1":                        "a text is no number (tier is a string)",
		"double(tier) == 1.0":                   "a text is no number (tier is a string)",
		"total":                                 "the result is of type double, neither true nor false",
		"seat":                                  "the result is of type null_type, neither true nor false",
		"order":                                 "the result is of type map, neither true nor false",
		"order.items[0]":                        "the result is of type map, neither true nor false",
		"!total":                                "an operator does not take the types of these values (total is a number)",
		"total && paid":                         "an operator does not take the types of these values (paid is true or false, total is a number)",
		"tier in etag":                          "",
		"{'silver': true}[tier]":                "a key is not there; ask with has() first (tier is a string)",
		"order.items.price > 1":                 "",
	} {
		s := shop()
		c, err := s.Compile(condition)
		if want == "" { // refused already, or whatever it is, no value is shown
			if err == nil {
				_, err = c.Holds(user{s, ordered})
			}
			if err == nil {
				t.Errorf("%s has a result", condition)
			}
			continue
		}
		must.Succeed(t, err)
		if got, err := c.Holds(user{s, ordered}); err == nil || err.Error() != want {
			t.Errorf("%s: %t, %v; want %s", condition, got, err, want)
		}
	}
}

// A value that is longer than one that was captured, as a cell of a table may be, is not looked at.
func TestValuesThatAreTooLong(t *testing.T) {
	s := shop()
	c, err := s.Compile("tier == 'gold'")
	must.Succeed(t, err)
	if got, err := c.Holds(user{s, given{"tier": str(strings.Repeat("x", MaxValue+1))}}); err == nil || err.Error() != "tier has 4097 bytes, at most 4096 are accepted in conditions" {
		t.Error(got, err)
	}
	if _, err := c.Holds(user{s, given{"tier": str(strings.Repeat("x", MaxValue))}}); err != nil {
		t.Error(err)
	}
}

// Any other name may be a column of a table whose columns are not known.
func TestColumnsThatAreNotKnown(t *testing.T) {
	s := NewScope(map[string]string{"late": NotBefore}, true)
	s.Add(Status, Code, true)
	for condition, want := range map[string]string{
		"tier == 'gold' && region != 'eu'": "", "status == 'new'": "",
		"tier > 3": "has types", "late == 1": "late is captured by no step", "uuid == ''": "uuid is a variable",
	} {
		if _, err := s.Compile(condition); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", condition, err, want)
		}
	}
}

// A value may have a name that the language has, and only that of a type cannot be asked for.
func TestNamesThatTheLanguageHasToo(t *testing.T) {
	s := NewScope(nil, false)
	names := []string{"size", "contains", "has", "exists", "matches", "math"}
	for _, name := range slices.Concat(names, slices.Collect(maps.Keys(words)), []string{"package", "in", "true"}) {
		s.Add(name, JSON, false)
	}
	for _, name := range names {
		c, err := s.Compile(name + " == 'x' && size(" + name + ") == 1")
		must.Succeed(t, err)
		if got, err := c.Holds(user{s, given{name: str("x")}}); err != nil || !got {
			t.Errorf("%s: %t, %v", name, got, err)
		}
	}
	for name := range words {
		if _, err := s.Compile(name + " == 'x'"); err == nil || err.Error() != name+" is a word of CEL for a type; give the value another name" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// worst are conditions whose cost is as high as is accepted, with the values that cost most.
var worst = map[string]string{
	"texts":    strings.Repeat("a == b && ", 20) + "a == b",
	"contains": strings.Repeat("a.contains('xxxxxxxxxa') || ", 15) + "1 == 2",
	"items":    "a in c || b in c",
	"lists":    strings.Repeat("c == d && ", 3) + "c == d",
	"sums":     "(a + b) + a == b + a",
	"objects":  "c == d && e == f && g == h",
	"names":    "[a, b, c, d, e, f, g, h] == [1]",
	"nested":   "e" + strings.Repeat("[0]", 60) + " == 1",
	"numbers":  strings.Repeat("1 + ", 60) + "1 == 2",
	"choices":  strings.Repeat("1 == 2 ? false : ", 25) + "true",
}

// large are the largest values: texts that differ at their end, long lists, and a deep one.
func large() (*Scope, given) {
	s, values := NewScope(nil, false), given{}
	long := strings.Repeat("x", MaxValue-1)
	list := "[" + strings.Repeat("0,", MaxValue/2-2) + "0]"
	deep := strings.Repeat("[", MaxValue/2) + strings.Repeat("]", MaxValue/2)
	for name, v := range map[string]Value{
		"a": str(long + "a"), "b": str(long + "b"), "c": object(list), "d": object(list), "e": object(deep), "f": object(deep),
		"g": object(list), "h": object(deep),
	} {
		values[name] = v
	}
	for _, name := range strings.Split("abcdefgh", "") {
		s.Add(name, JSON, false)
	}
	return s, values
}

// exceeds says whether CEL counts more than MaxCost as it evaluates a condition.
func exceeds(t *testing.T, s *Scope, condition string, v Values) bool {
	t.Helper()
	counted, err := s.compile(condition, cel.CostLimit(MaxCost))
	must.Succeed(t, err)
	a, err := counted.activation(v)
	must.Succeed(t, err)
	_, _, err = counted.program.Eval(a)
	return err != nil && strings.Contains(err.Error(), "cost limit exceeded")
}

// The estimate, by which conditions are refused, bounds what they cost.
func TestTheCostThatIsAcceptedIsNotExceeded(t *testing.T) {
	s, values := large()
	for name, condition := range worst {
		if exceeds(t, s, condition, user{s, values}) {
			t.Errorf("%s costs more than %d", name, MaxCost)
		}
	}
	counted, err := s.compile("a + b == c", cel.CostLimit(1))
	must.Succeed(t, err)
	a, err := counted.activation(user{s, values})
	must.Succeed(t, err)
	if _, _, err := counted.program.Eval(a); err == nil || !strings.Contains(err.Error(), "cost limit exceeded") {
		t.Errorf("the cost is not counted: %v", err)
	}
}

// FuzzConditions compiles any text, and evaluates what is accepted with values of any kind: it
// does not panic, costs no more than was estimated, and shows no value.
func FuzzConditions(f *testing.F) {
	for _, condition := range worst {
		f.Add(condition, "0")
	}
	f.Add("total > 10 && has(order.paid)", `{"paid": [1, 2.5, null]}`)
	f.Add("order.x[tier] == total", `[[[{"s3cret": "s3cret"}]]]`)
	f.Add("int(tier) + total == 3 ? paid : seat", `-1e999`)
	f.Fuzz(func(t *testing.T, condition, value string) {
		s := shop()
		c, err := s.Compile(condition)
		if err != nil || len(value) > MaxValue {
			return
		}
		for kind := None; kind <= Composite; kind++ {
			v := given{}
			for _, name := range s.names {
				v[name] = Value{kind, []byte(value)}
			}
			if _, err := c.Holds(user{s, v}); err != nil && strings.Contains(err.Error(), "s3cret") && !strings.Contains(condition, "s3cret") {
				t.Errorf("%q with %q: %v", condition, value, err)
			}
			if exceeds(t, s, condition, user{s, v}) {
				t.Errorf("%q with %q costs more than %d", condition, value, MaxCost)
			}
		}
	})
}

func BenchmarkHolds(b *testing.B) {
	b.Run("none", func(b *testing.B) {
		u := user{shop(), ordered}
		for b.Loop() {
			_ = u.Value(1)
		}
	})
	for _, condition := range []string{"paid == true", "status == 200", "tier == 'gold'", "total > 10 && tier == 'gold' && status in [200, 202]", "has(order.paid) && order.paid"} {
		s := shop()
		c, err := s.Compile(condition)
		must.Succeed(b, err)
		b.Run(condition, func(b *testing.B) { hold(b, c, user{s, ordered}) })
	}
	s, values := large()
	for name, condition := range worst {
		c, err := s.Compile(condition)
		must.Succeed(b, err)
		b.Run("largest "+name, func(b *testing.B) { hold(b, c, user{s, values}) })
	}
}

func hold(b *testing.B, c *Condition, v Values) {
	b.ReportAllocs()
	for b.Loop() {
		_, _ = c.Holds(v)
	}
}

func BenchmarkCompile(b *testing.B) {
	s := shop()
	b.ReportAllocs()
	for b.Loop() {
		_, err := s.Compile("total > 10 && tier == 'gold' && status in [200, 202]")
		must.Succeed(b, err)
	}
}

// A condition that is said not to fail has a result for all values, also for null. If it is said to hold, or not
// to hold, where a value is null, it does so for all other values.
func TestWhatIsKnownOfAConditionHolds(t *testing.T) {
	kinds := []Value{{}, str(""), str("3"), {Bool, []byte("true")}, number("7"), number("1e999"), number("-0.5"), object("[1]"), object("{}")}
	for condition, want := range map[string]string{
		"paid == null":                             "null paid",
		"null == paid || status == 401":            "null paid",
		"status == 401 || (paid == null || !true)": "null paid",
		"paid != null && status < 400":             "needs paid",
		"paid != null && null != total":            "needs paid, needs total",
		"!(paid == null)":                          "",
		"paid == null && total == null":            "",
		"paid == total || status in [1, paid]":     "",
		"paid in [1.5, 'a', [2], null]":            "",
		"order == order":                           "",
		"status > 400.5":                           "",
		"true":                                     "",
		"paid":                                     "fails",
		"paid || paid == null":                     "fails",
		"!paid":                                    "fails",
		"total > 1":                                "fails",
		"total + 1 == 2":                           "fails",
		"order.id == 1":                            "fails",
		"has(order.id)":                            "fails",
		"1 in order":                               "fails",
		"status / 0 == 1":                          "fails",
		"paid == null ? total == 1 : paid == 2":    "fails",
		"{'a': paid} == {'a': 1}":                  "fails",
		"etag == 'a'":                              "",
		"tier == 'gold'":                           "fails", // a column
	} {
		s := shop()
		c, err := s.Compile(condition)
		must.Succeed(t, err)
		var known []string
		for _, name := range []string{"order", "paid", "total"} {
			if c.HoldsWithout(name) {
				known = append(known, "null "+name)
			}
			if c.Needs(name) {
				known = append(known, "needs "+name)
			}
		}
		if c.MayFail() {
			known = append(known, "fails")
		}
		if got := strings.Join(known, ", "); got != want {
			t.Errorf("%s: %q, want %q", condition, got, want)
		}
		if c.MayFail() {
			continue
		}
		for _, paid := range kinds {
			for _, total := range kinds {
				v := maps.Clone(ordered)
				v["paid"], v["total"], v["order"] = paid, total, total
				holds, err := c.Holds(user{s, v})
				if err != nil || paid.Kind == None && (c.HoldsWithout("paid") && !holds || c.Needs("paid") && holds) {
					t.Errorf("%s: %t, %v, if paid is %v and total %v", condition, holds, err, paid, total)
				}
			}
		}
	}
}
