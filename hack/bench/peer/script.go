package peer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// ScriptLoad is users who carry out what a script says, again and again, for a time.
type ScriptLoad struct {
	// Script is a file, and URL that of the system.
	Script, URL    string
	Users, Seconds int
}

// K6Script is k6 with a script, which has the URL as SHOP.
func K6Script(l ScriptLoad) Invocation {
	return Invocation{Args: append(k6Args[:len(k6Args):len(k6Args)],
		"--vus", strconv.Itoa(l.Users), "--duration", fmt.Sprintf("%ds", l.Seconds), "-e", "SHOP="+l.URL, l.Script)}
}

// LocustScript is one process of Locust, as its documentation has one for each core. All users
// are there within a second.
func LocustScript(l ScriptLoad) Invocation {
	users := strconv.Itoa(l.Users)
	return Invocation{Args: []string{
		"--headless", "--only-summary", "--loglevel", "ERROR", "--host", l.URL, "--users", users, "--spawn-rate", users,
		"--run-time", fmt.Sprintf("%ds", l.Seconds), "-f", l.Script,
	}}
}

// PyPI finds a command of a Python package, which it installs if need be: in an environment of
// its own in the cache, by a file of requirements that pins all.
func (s Store) PyPI(ctx context.Context, name, requirements string) (path, version string, err error) {
	text, err := os.ReadFile(requirements)
	if err != nil {
		return "", "", err
	}
	if version = Pinned(string(text), name); version == "" {
		return "", "", fmt.Errorf("%s does not pin %s", requirements, name)
	}
	env := filepath.Join(s.Cache, name+"-"+version)
	path = filepath.Join(env, "bin", name)
	whole := filepath.Join(env, "whole") // an installation that is cut must not look like one
	installed, err := os.ReadFile(whole)
	if err == nil && string(installed) == string(text) {
		return path, version, nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", version, err
	}
	fmt.Fprintf(s.Log, "installing %s %s (once)\n", name, version)
	for _, c := range [][]string{
		{"python3", "-m", "venv", "--clear", env},
		{filepath.Join(env, "bin", "pip"), "install", "--quiet", "--disable-pip-version-check", "--no-input", "--only-binary", ":all:", "--requirement", requirements},
	} {
		if out, err := exec.CommandContext(ctx, "nice", c...).CombinedOutput(); err != nil {
			return "", version, fmt.Errorf("%s %s: %w: %s", filepath.Base(c[0]), strings.Join(c[1:3], " "), err, lastLine(out))
		}
	}
	return path, version, os.WriteFile(whole, text, 0o600)
}

// Pinned is the version of a package in a file of requirements; empty: it is not pinned.
func Pinned(requirements, name string) string {
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + `==(\S+)`).FindStringSubmatch(requirements)
	if m == nil {
		return ""
	}
	return m[1]
}
