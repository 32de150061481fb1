// Package selector finds a value in a page of HTML by a CSS selector.
//
// It reads the page tag by tag, and keeps of it only which elements are open: the time grows with
// the length of the page, and the memory does not, whatever the page is. So it builds no tree
// as a browser does. An element whose end tag is left out, such as p or li, lasts until the
// end of the one that it is in.
//
// A selector names elements by tag, id, class and attribute, in others by a space or by >. Pseudo-classes
// and siblings need the tree, and are refused.
//
// It imports nothing of ours.
package selector
