// Package targetsfile reads targets files of vegeta, in both of its formats and by its
// own Targeters, and adds what those leave out: the line of a mistake, a bound, and the
// refusal of lines that they would read another way than they look.
//
//	file ──▶ lines ──▶ vegeta's Targeter ──▶ URL of the target? ──▶ source.Targets
//
// A worker reads a file before it is ready. Nothing else can be read with it: a body from
// another file of the worker, which the HTTP format allows, is refused.
//
// Vegeta's Targeter drops the rest of an HTTP file after a line that is too long for its
// buffer, and the last line of a JSON file that does not end with a line break. Here the
// one is an error, and the other is read.
package targetsfile
