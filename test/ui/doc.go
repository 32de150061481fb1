// Package ui is the test of the live pages of kubectl loadtest ui in a real browser, a headless
// Chromium: what a person sees and does, live, with a keyboard, without a script, on a phone.
// The runs are made up; the server, the pages and their script are those of the plugin. test/e2e/runs
// follows runs of the cluster.
package ui
