// Package browser drives a headless Chromium in tests, by the DevTools protocol over a pipe: it
// opens pages, runs expressions in them, moves the mouse, presses keys and takes pictures.
//
//	b := browser.Start(t)
//	tab := b.Open(t, url)
//	tab.Await(t, `document.title === "Load tests"`)
//
// It waits for what a page shows by expressions that become true, and for nothing else. It is
// for tests only and imports no other package of ours.
package browser
