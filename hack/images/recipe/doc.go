// Package recipe lists the images of this repository and what each is made
// of. It is pure data: it touches no file, starts no program, and imports no
// other package of this module.
package recipe
