// Package page reads a page of documentation: its title, headings with their anchors,
// links, and blocks of code. The tests of the documentation read it: that links lead
// somewhere, that manifests are accepted, that commands do what the page says.
//
// Anchors are those that GitHub gives to headings.
package page
