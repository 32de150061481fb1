package debimage

import (
	"path"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/hack/images/recipe"
)

// trim are the files that a running container does not use, as patterns of
// path.Match; a folder goes with everything in it.
var trim = []string{
	// The container runtime makes these; mmdebstrap copies the last ones from
	// the building host.
	"dev", "proc", "sys", "etc/fstab", "etc/hostname", "etc/resolv.conf",
	// What people read.
	"usr/share/bug", "usr/share/doc", "usr/share/info", "usr/share/lintian", "usr/share/locale", "usr/share/man",
	"usr/share/bash-completion", "usr/share/pixmaps",
	// What installs and updates.
	"etc/apt", "etc/dpkg", "etc/debconf.conf", "etc/adduser.conf", "etc/deluser.conf", "etc/alternatives",
	"usr/share/debconf", "usr/share/dpkg", "usr/lib/dpkg", "usr/lib/apt", "usr/bin/dpkg*", "usr/bin/apt*",
	"usr/lib/usrmerge", "var/cache", "var/lib/apt", "var/lib/dpkg", "var/log",
	// Scripts of packages are written in it; no program of ours is.
	"usr/bin/perl*", "usr/lib/*/perl*", "usr/lib/*/libperl*", "usr/share/perl*", "etc/perl",
	// One container runs one program: no init, no timers, no logins.
	"etc/cron.*", "etc/init.d", "etc/logrotate.d", "etc/pam.d", "etc/rc?.d", "etc/security", "etc/systemd", "etc/ufw",
	"lib/systemd", "lib/init", "usr/lib/systemd", "lib/*/security",
	// Conversions between character sets, and headers.
	"usr/lib/*/gconv", "usr/include",
}

// patterns are those of all images and the recipe's own.
func patterns(r recipe.Debian) []string { return slices.Concat(trim, r.Drop) }

// trimmer reports whether a file, or a folder that it is in, is to go.
func trimmer(r recipe.Debian) func(name string) bool {
	all := patterns(r)
	return func(name string) bool {
		parts := strings.Split(name, "/")
		for i := range parts {
			if matches(all, strings.Join(parts[:i+1], "/")) {
				return true
			}
		}
		return false
	}
}

// matches passes over a bad pattern: the tests of both lists find it.
func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}
