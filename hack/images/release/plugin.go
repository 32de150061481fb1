package release

import (
	"bytes"
	"fmt"
	"path"
	"strings"
	"text/template"
)

// PluginPlatforms are what the plugin is built for.
var PluginPlatforms = []Platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}

// Platform is an operating system and an architecture, by Go's names for them.
type Platform struct{ OS, Architecture string }

// PluginArchive is the name of the plugin's archive for a platform.
func (p Platform) PluginArchive() string {
	return fmt.Sprintf("kubectl-loadtest_%s_%s.tar.gz", p.OS, p.Architecture)
}

// PackPlugin packs the plugin with what belongs to it.
func (r Release) PackPlugin(program, completion, license []byte) ([]byte, error) {
	return pack([]packed{{"LICENSE", 0o644, license}, {"kubectl-loadtest", 0o755, program}, {"kubectl_complete-loadtest", 0o755, completion}}, r.Created)
}

// KrewManifest fills in the template of krew-release-bot: the tag, and address and sum of each
// archive.
func (r Release) KrewManifest(text string, of *Folder) ([]byte, error) {
	values := map[string]string{"TagName": "v" + r.Version}
	parsed, err := template.New("").Funcs(template.FuncMap{
		"addURIAndSha": func(uri, _ string) (string, error) {
			filled, err := template.New("").Parse(uri)
			if err != nil {
				return "", err
			}
			var at bytes.Buffer
			if err := filled.Execute(&at, values); err != nil {
				return "", err
			}
			sum := of.Sum(path.Base(at.String()))
			if sum == "" {
				return "", fmt.Errorf("there is no file %s", path.Base(at.String()))
			}
			return fmt.Sprintf("uri: %s\nsha256: %s", at.String(), sum), nil
		},
		"indent": func(n int, text string) string {
			margin := strings.Repeat(" ", n)
			return margin + strings.ReplaceAll(text, "\n", "\n"+margin)
		},
	}).Parse(text)
	if err != nil {
		return nil, fmt.Errorf("read krew's manifest: %w", err)
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, values); err != nil {
		return nil, fmt.Errorf("fill in krew's manifest: %w", err)
	}
	return out.Bytes(), nil
}
