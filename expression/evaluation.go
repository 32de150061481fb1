package expression

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	"github.com/tidwall/gjson"
)

// Kind is what a value is.
type Kind uint8

// The kinds of values. None is null: nothing was captured.
const (
	None Kind = iota
	String
	Bool
	Number
	// Composite is an object or a list of JSON.
	Composite
)

var kindNames = [...]string{None: "null", String: "a string", Bool: "true or false", Number: "a number", Composite: "an object or a list"}

// Value is what a user has under a name. Text is that of JSON unless it is a String.
type Value struct {
	Kind Kind
	Text []byte
}

// Values are the values of a user, by the index in the scope.
type Values interface {
	Value(index int) Value
}

// Holds evaluates the condition. Its error says why there is no result, without any value.
func (c *Condition) Holds(v Values) (bool, error) {
	a, err := c.activation(v)
	if err != nil {
		return false, err
	}
	result, _, err := c.program.Eval(a)
	if err != nil {
		return false, a.why(err)
	}
	holds, ok := result.(types.Bool)
	if !ok {
		return false, fmt.Errorf("the result is of type %s, neither true nor false", result.Type().TypeName())
	}
	return bool(holds), nil
}

// reasons are what CEL says of an evaluation that failed, without what it quotes.
var reasons = []struct{ begins, because string }{
	{"division by zero", "a number is divided by zero"},
	{"modulus by zero", "a number is divided by zero"},
	{"integer overflow", "a number is too large"},
	{"return error for overflow", "a number is too large"},
	{"no such key", "a key is not there; ask with has() first"},
	{"index out of bounds", "an item of a list is not there; ask with size() first"},
	{"no such overload", "an operator does not take the types of these values"},
	{"type conversion error", "a text is no number"},
	{"strconv.", "a text is no number"},
}

// why is the reason of an evaluation that failed.
func (a *activation) why(err error) error {
	because := "the values cannot be used like this"
	for _, r := range reasons {
		if strings.HasPrefix(err.Error(), r.begins) {
			because = r.because
			break
		}
	}
	var kinds []string
	for i, u := range a.condition.uses {
		kinds = append(kinds, u.name+" is "+kindNames[a.values[i].Kind])
	}
	if len(kinds) > 0 {
		because += " (" + strings.Join(kinds, ", ") + ")"
	}
	return errors.New(because)
}

// activation gives CEL the values of a user, for one evaluation.
type activation struct {
	condition *Condition
	values    [maxNames]Value   // by the index of the use
	read      [maxNames]ref.Val // likewise, once they were asked for
}

var _ interpreter.Activation = (*activation)(nil)

// activation has the values that the condition names, unless one is too large.
func (c *Condition) activation(v Values) (*activation, error) {
	a := &activation{condition: c}
	for i, u := range c.uses {
		a.values[i] = v.Value(u.index)
		if n := len(a.values[i].Text); n > MaxValue {
			return nil, fmt.Errorf("%s has %d bytes, at most %d are accepted in conditions", u.name, n, MaxValue)
		}
	}
	return a, nil
}

// ResolveName is the value of a name. It is read once, however often it is asked for.
func (a *activation) ResolveName(name string) (any, bool) {
	for i, u := range a.condition.uses {
		if u.name == name {
			if a.read[i] == nil {
				a.read[i] = a.values[i].ref()
			}
			return a.read[i], true
		}
	}
	return nil, false
}

// Parent is none.
func (a *activation) Parent() interpreter.Activation { return nil }

// ref is the value as CEL has it.
func (v Value) ref() ref.Val {
	switch v.Kind {
	case String:
		return types.String(v.Text)
	case Bool:
		return types.Bool(string(v.Text) == "true")
	case Number:
		return numberOf(string(v.Text))
	case Composite:
		return composite(gjson.ParseBytes(v.Text), maxNesting)
	}
	return types.NullValue
}

// numberOf is a whole number if it is written as one that fits 64 bits. A number beyond those of a
// double is infinite.
func numberOf(number string) ref.Val {
	if n, err := strconv.ParseInt(number, 10, 64); err == nil {
		return types.Int(n)
	}
	f, _ := strconv.ParseFloat(number, 64) // the response was read as JSON
	return types.Double(f)
}

// maxNesting bounds the lists and objects inside of each other: what is deeper is null. Each level is read anew.
const maxNesting = 16

// composite is an object or a list of JSON, which was read before.
func composite(json gjson.Result, depth int) ref.Val {
	switch {
	case depth == 0:
		return types.NullValue
	case json.IsArray():
		var list []ref.Val
		json.ForEach(func(_, item gjson.Result) bool {
			list = append(list, refOf(item, depth-1))
			return true
		})
		return types.NewRefValList(types.DefaultTypeAdapter, list)
	case json.IsObject():
		entries := map[ref.Val]ref.Val{}
		json.ForEach(func(key, item gjson.Result) bool {
			entries[types.String(key.Str)] = refOf(item, depth-1)
			return true
		})
		return types.NewRefValMap(types.DefaultTypeAdapter, entries)
	}
	return types.NullValue
}

// refOf is a value of JSON as CEL has it.
func refOf(json gjson.Result, depth int) ref.Val {
	switch json.Type {
	case gjson.String:
		return types.String(json.Str)
	case gjson.Number:
		return numberOf(json.Raw)
	case gjson.True, gjson.False:
		return types.Bool(json.Type == gjson.True)
	case gjson.JSON:
		return composite(json, depth)
	}
	return types.NullValue
}
