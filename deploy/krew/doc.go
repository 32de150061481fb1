// Package krew has what publishes the kubectl plugin in krew's index: a template of the
// manifest, and the program by which kubectl completes the plugin's arguments. Its test
// holds the template against krew's schema.
package krew
