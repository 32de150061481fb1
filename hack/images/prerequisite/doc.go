// Package prerequisite makes sure that a program of the host is there, and
// installs its Debian package if it may. It does not know what the program is
// for, and imports no other package of this module.
package prerequisite
