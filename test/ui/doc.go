// Package ui is the test of the live pages of kubectl loadtest ui in a real browser, a headless
// Chromium: what a person sees and does, live, with a keyboard, without a script, on a phone.
// The runs are made up. The server, the pages and their script belong to the plugin. Package
// test/e2e/runs follows runs of a cluster.
package ui
