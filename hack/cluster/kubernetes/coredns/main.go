package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"

	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/forward"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/loadbalance"
	_ "github.com/coredns/coredns/plugin/ready"
)

// directives is the plugin chain: CoreDNS calls the plugins in this order,
// whatever the order in the Corefile.
var directives = []string{
	"bind", "health", "ready", "errors", "cache", "loadbalance", "kubernetes", "forward",
}

func main() {
	dnsserver.Directives = directives
	coremain.Run()
}
