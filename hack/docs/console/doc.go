// Package console reads the blocks of a page that show a terminal: commands behind "$ ",
// and what they print. It compares that with what they really print, with figures masked,
// so that a test can type what a tutorial says.
package console
