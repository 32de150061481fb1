package servetest

import (
	"reflect"
	"testing"
)

// Required expects that a configuration is refused without any one of these fields.
func Required[C any](t *testing.T, complete C, accept func(C) error, fields ...string) {
	t.Helper()
	for _, name := range fields {
		config := complete
		reflect.ValueOf(&config).Elem().FieldByName(name).SetZero()
		if accept(config) == nil {
			t.Errorf("accepted a configuration without %s", name)
		}
	}
}
