package expression

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
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

// Values are those of a user, by the index in the scope.
type Values interface {
	Value(index int) Value
}

// Holds evaluates the condition. Its error says why there is no result, without any value.
func (c *Condition) Holds(v Values) (bool, error) {
	for _, u := range c.uses {
		if n := len(v.Value(u.index).Text); n > MaxValue {
			return false, fmt.Errorf("%s has %d bytes, at most %d are accepted in conditions", u.name, n, MaxValue)
		}
	}
	result, _, err := c.program.Eval(&activation{c.uses, v})
	if err != nil {
		return false, c.why(err, v)
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
	{"operation cancelled: actual cost limit exceeded", "the cost is above the limit"},
}

// why is the reason of an evaluation that failed.
func (c *Condition) why(err error, v Values) error {
	because := "the values cannot be used like this"
	for _, r := range reasons {
		if strings.HasPrefix(err.Error(), r.begins) {
			because = r.because
			break
		}
	}
	var kinds []string
	for _, u := range c.uses {
		kinds = append(kinds, u.name+" is "+kindNames[v.Value(u.index).Kind])
	}
	if len(kinds) > 0 {
		because += " (" + strings.Join(kinds, ", ") + ")"
	}
	return errors.New(because)
}

// activation gives CEL the values of a user.
type activation struct {
	uses   []use
	values Values
}

var _ interpreter.Activation = (*activation)(nil)

// ResolveName is the value of a name.
func (a *activation) ResolveName(name string) (any, bool) {
	for _, u := range a.uses {
		if u.name == name {
			return a.values.Value(u.index).ref(), true
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
		return types.DefaultTypeAdapter.NativeToValue(numberOf(string(v.Text)))
	case Composite:
		return composite(v.Text)
	}
	return types.NullValue
}

// numberOf is a whole number if it is written as one that fits 64 bits.
func numberOf(number string) any {
	if n, err := strconv.ParseInt(number, 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil && f == 0 {
		return nil // the response was read as JSON, so that this is no number at all
	}
	return f
}

// composite reads an object or a list.
func composite(raw []byte) ref.Val {
	in := json.NewDecoder(bytes.NewReader(raw))
	in.UseNumber()
	var value any
	if err := in.Decode(&value); err != nil {
		return types.NullValue
	}
	return types.DefaultTypeAdapter.NativeToValue(withNumbers(value))
}

// withNumbers is a value of JSON whose numbers are those of numberOf.
func withNumbers(value any) any {
	switch v := value.(type) {
	case json.Number:
		return numberOf(string(v))
	case []any:
		for i := range v {
			v[i] = withNumbers(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = withNumbers(v[key])
		}
	}
	return value
}
