// Package extensions is the part of grol's that fortio names.
package extensions

import "grol.io/grol/object"

// Config is what scripts may do.
type Config struct {
	HasLoad, HasSave, UnrestrictedIOs, LoadSaveEmptyOnly bool
}

// Init does nothing.
func Init(*Config) error { return nil }

// MustCreate does nothing.
func MustCreate(object.Extension) {}
