package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
)

func TestSumsNameEachFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "1.2.3")
	f, err := NewFolder(path)
	must.Succeed(t, err)
	must.Succeed(t, f.Write("b", []byte("second")))
	must.Succeed(t, f.Write("a", []byte("first")))
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must.Succeed(t, err)
	must.Succeed(t, f.WriteSums(&Key{private}))
	sums := must.ReadFile(t, filepath.Join(path, SumsFile))
	same.As(t, "sums", fmt.Sprintf("%x  a\n%x  b\n", sha256.Sum256([]byte("first")), sha256.Sum256([]byte("second"))), string(sums))
	text := must.ReadFile(t, filepath.Join(path, SumsFile+".sig"))
	signature, err := base64.StdEncoding.DecodeString(string(text))
	must.Succeed(t, err)
	if sum := sha256.Sum256(sums); !ecdsa.VerifyASN1(&private.PublicKey, sum[:], signature) {
		t.Error("the signature is not that of the sums")
	}
	if err := f.Write("a", nil); err == nil {
		t.Error("a file is written over")
	}
	if _, err := NewFolder(path); err == nil || !strings.Contains(err.Error(), "has SHA256SUMS in it") {
		t.Errorf("a folder with another release: %v", err)
	}
}

func TestFileThatFailsHasNoSum(t *testing.T) {
	f, err := NewFolder(t.TempDir())
	must.Succeed(t, err)
	if err := f.Create("a", func(io.Writer) error { return errors.New("no more room") }); err == nil || f.Sum("a") != "" {
		t.Errorf("%v, sum %q", err, f.Sum("a"))
	}
}

func TestPluginArchiveHasWhatBelongsToIt(t *testing.T) {
	archive, err := at("ghcr.io/example").PackPlugin([]byte("program"), []byte("completion"), []byte("license"))
	must.Succeed(t, err)
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	must.Succeed(t, err)
	var found []string
	for files := tar.NewReader(unzipped); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must.Succeed(t, err)
		content, err := io.ReadAll(files)
		must.Succeed(t, err)
		found = append(found, fmt.Sprintf("%s %o %s", header.Name, header.Mode, content))
	}
	same.As(t, "files", []string{"LICENSE 644 license", "kubectl-loadtest 755 program", "kubectl_complete-loadtest 755 completion"}, found)
}

func TestKrewManifestHasTheSumOfEachArchive(t *testing.T) {
	f, err := NewFolder(t.TempDir())
	must.Succeed(t, err)
	text := must.ReadFile(t, "../../../deploy/krew/loadtest.yaml")
	r := at("ghcr.io/example")
	if _, err := r.KrewManifest(string(text), f); err == nil || !strings.Contains(err.Error(), "there is no file kubectl-loadtest_linux_amd64.tar.gz") {
		t.Errorf("without archives: %v", err)
	}
	for _, platform := range PluginPlatforms {
		must.Succeed(t, f.Write(platform.PluginArchive(), []byte(platform.OS+platform.Architecture)))
	}
	filled, err := r.KrewManifest(string(text), f)
	must.Succeed(t, err)
	for _, platform := range PluginPlatforms {
		name := platform.PluginArchive()
		want := "/releases/download/v1.2.3/" + name + "\n      sha256: " + f.Sum(name) + "\n"
		if !strings.Contains(string(filled), want) {
			t.Errorf("it lacks %q:\n%s", want, filled)
		}
	}
}

func TestNotesAreTheVersionsSection(t *testing.T) {
	const changelog = "# Changes\n\n## Unreleased\nNext.\n\n## 1.2.3 (2026-11-28)\nThis ([how](docs/how.md)).\n\n### More\nToo.\n\n## v1.2.2\nBefore.\n"
	for version, want := range map[string]string{
		"1.2.3":      "# loadtest-operator 1.2.3\n\nThis ([how](https://example.com/repository/blob/4bbd7f8/docs/how.md)).\n\n### More\nToo.\n\n## Install\n",
		"1.2.2":      "# loadtest-operator 1.2.2\n\nBefore.\n\n## Install\n",
		"1.3.0-rc.1": "# loadtest-operator 1.3.0-rc.1\n\nNext.\n\n## Install\n",
	} {
		r := at("ghcr.io/example")
		r.Version = version
		notes, err := r.Notes(changelog, nil)
		if err != nil || !strings.HasPrefix(notes, want) || !strings.Contains(notes, "--version "+version+" ") {
			t.Errorf("%s: %v, %s", version, err, notes)
		}
	}
	r := at("ghcr.io/example")
	r.Version = "1.3.0"
	if _, err := r.Notes(changelog, nil); err == nil || err.Error() != `CHANGELOG.md has nothing under "## 1.3.0": give that name to "## Unreleased"` {
		t.Errorf("a version without a section: %v", err)
	}
}
