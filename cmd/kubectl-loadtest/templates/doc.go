// Package templates finds the mistakes in the templates of a LoadTest before anything is sent:
// variables that nothing defines, captured values that no request captures before they are
// used, and bodies that are no JSON although their Content-Type says so. The worker's own
// compiler of templates reads them.
package templates
