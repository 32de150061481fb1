package main

import (
	"slices"
	"testing"

	"github.com/coredns/caddy"
)

// A directive without its plugin makes every Corefile with it fail to load.
func TestEveryDirectiveHasItsPlugin(t *testing.T) {
	registered := caddy.ListPlugins()["others"]
	for _, directive := range directives {
		if !slices.Contains(registered, "dns."+directive) {
			t.Errorf("directive %q has no plugin; registered: %q", directive, registered)
		}
	}
}
