package release

import (
	"fmt"
	"strings"
)

// unreleased is the section of the changelog for what the next release has.
const unreleased = "Unreleased"

// Notes are what users read of the release: its section of the changelog, and how it is installed.
// A candidate, such as 1.2.3-rc.1, may have what is unreleased.
func (r Release) Notes(changelog string, images []Pushed) (string, error) {
	section := sectionOf(changelog, r.Version)
	if section == "" && strings.Contains(r.Version, "-") {
		section = sectionOf(changelog, unreleased)
	}
	if section == "" {
		return "", fmt.Errorf("CHANGELOG.md has nothing under %q: give that name to %q", "## "+r.Version, "## "+unreleased)
	}
	// A page of a release is elsewhere than the folder docs.
	section = strings.ReplaceAll(section, "](docs/", "]("+r.Source+"/blob/"+r.Revision+"/docs/")
	var out strings.Builder
	fmt.Fprintf(&out, "# loadtest-operator %s\n\n%s\n\n## Install\n\n", r.Version, section)
	fmt.Fprintf(&out, "```sh\nhelm install loadtest-operator oci://%s/charts/loadtest-operator --version %s --namespace loadtest-system --create-namespace\n```\n\n", r.Registry, r.Version)
	fmt.Fprintf(&out, "CRDs before a chart of a new version: `kubectl apply --server-side -f crds.yaml`. The plugin is in kubectl-loadtest_OS_ARCH.tar.gz.\n")
	fmt.Fprintf(&out, "`sha256sum --check %s` compares the files.\n\n| image | |\n| --- | --- |\n", SumsFile)
	for _, image := range images {
		fmt.Fprintf(&out, "| %s | `%s` |\n", image.repository.RepositoryStr(), image)
	}
	return out.String(), nil
}

// sectionOf is what stands under a heading of the second level, with or without a v before it.
func sectionOf(changelog, heading string) string {
	var lines []string
	in := false
	for line := range strings.Lines(changelog) {
		if name, ok := strings.CutPrefix(line, "## "); ok {
			first, _, _ := strings.Cut(strings.TrimSpace(name), " ") // a date may follow
			in = strings.TrimPrefix(first, "v") == heading
			continue
		}
		if in {
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, ""))
}
