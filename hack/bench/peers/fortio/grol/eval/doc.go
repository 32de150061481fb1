// Package eval is the part of grol's that fortio names.
package eval

import (
	"context"
	"errors"
	"fmt"

	"grol.io/grol/object"
)

var errStub = errors.New("this fortio was built without its scripting language")

// Term is a terminal.
type Term struct{}

// Suspend does nothing.
func (*Term) Suspend() {}

// Resume returns a context that can be cancelled.
func (*Term) Resume(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}

// State is the state of a script.
type State struct {
	Context context.Context
	Cancel  context.CancelFunc
	Term    *Term
}

// NewState returns an empty state.
func NewState() *State { return &State{} }

// Error is an error as an object.
func (*State) Error(err error) object.Object { return object.String{Value: err.Error()} }

// Errorf is an error as an object.
func (*State) Errorf(format string, args ...any) object.Object {
	return object.String{Value: fmt.Sprintf(format, args...)}
}

// EvalString refuses.
func EvalString(any, string, bool) (object.Object, error) { return nil, errStub }
