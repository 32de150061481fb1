// Package object is the part of grol's that fortio names.
package object

import "io"

// Type is a type of the language.
type Type string

// The types that fortio names.
const (
	STRING Type = "STRING"
	MAP    Type = "MAP"
)

// Object is a value of the language.
type Object interface{ Inspect() string }

// Map is a map of objects.
type Map interface {
	Object
	JSON(w io.Writer) error
	Get(key Object) (Object, bool)
}

// String is a text.
type String struct{ Value string }

// Inspect returns the text.
func (s String) Inspect() string { return s.Value }

// Integer is a number.
type Integer struct{ Value int64 }

// Inspect returns nothing.
func (Integer) Inspect() string { return "" }

// TRUE is compared with.
var TRUE Object = String{Value: "true"}

// MakeQuad returns its first argument.
func MakeQuad(k1, _, _, _ Object) Object { return k1 }

// Extension is a function that fortio adds to the language.
type Extension struct {
	Name, Help       string
	MinArgs, MaxArgs int
	ArgTypes         []Type
	Callback         func(env any, name string, args []Object) Object
	DontCache        bool
}
