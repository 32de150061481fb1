// Package prerequisite makes sure that programs of the host are there, and
// installs their Debian packages if it may. It does not say what they are
// for, and imports no other package of this module.
package prerequisite
