package image

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var pause = Binary{Name: "loadtest.dev/pause:cluster", Program: []byte("ELF"), Path: "pause", User: "65535:65535"}

func packed(t *testing.T, b Binary) []byte {
	t.Helper()
	var buffer bytes.Buffer
	if err := b.Write(&buffer); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

// unpack returns the files of a tar and their modes.
func unpack(t *testing.T, content []byte) (map[string]string, map[string]int64) {
	t.Helper()
	files, modes := map[string]string{}, map[string]int64{}
	reader := tar.NewReader(bytes.NewReader(content))
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files, modes
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name], modes[header.Name] = string(text), header.Mode
	}
}

func TestWriteMakesWhatDockerSaveMakes(t *testing.T) {
	files, _ := unpack(t, packed(t, pause))
	var manifest []entry
	if err := json.Unmarshal([]byte(files["manifest.json"]), &manifest); err != nil {
		t.Fatal(err)
	}
	if len(manifest) != 1 || len(manifest[0].Layers) != 1 {
		t.Fatalf("manifest is %+v, want one image with one layer", manifest)
	}
	if diff := cmp.Diff([]string{pause.Name}, manifest[0].RepoTags); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	layer := files[manifest[0].Layers[0]]
	inside, modes := unpack(t, []byte(layer))
	if diff := cmp.Diff(map[string]string{"pause": "ELF"}, inside); diff != "" {
		t.Errorf("layer (-want +got):\n%s", diff)
	}
	if modes["pause"] != 0o755 {
		t.Errorf("the program's mode is %o, want 755", modes["pause"])
	}
	var config struct {
		OS     string
		Config struct {
			Entrypoint []string
			User       string
		}
		RootFS struct {
			DiffIDs []string `json:"diff_ids"`
		}
	}
	if err := json.Unmarshal([]byte(files[manifest[0].Config]), &config); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/pause"}, config.Config.Entrypoint); diff != "" {
		t.Errorf("entrypoint (-want +got):\n%s", diff)
	}
	if config.OS != "linux" || config.Config.User != pause.User {
		t.Errorf("configuration is %+v, want linux and user %s", config, pause.User)
	}
	if diff := cmp.Diff([]string{"sha256:" + digest([]byte(layer))}, config.RootFS.DiffIDs); diff != "" {
		t.Errorf("diff ids (-want +got):\n%s", diff)
	}
}

func TestWriteDependsOnTheContentOnly(t *testing.T) {
	if !bytes.Equal(packed(t, pause), packed(t, pause)) {
		t.Error("two archives of one image differ")
	}
	other := pause
	other.Program = []byte("ELF2")
	if bytes.Equal(packed(t, pause), packed(t, other)) {
		t.Error("archives of two programs are the same")
	}
}

func TestOpenReadsWhatWriteWrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pause.tar")
	content := packed(t, pause)
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Archive{Digest: digest(content), Names: []string{pause.Name}}, got); diff != "" {
		t.Errorf("archive (-want +got):\n%s", diff)
	}
}

func TestReadFindsNames(t *testing.T) {
	const (
		docker = `[{"Config":"c","RepoTags":["a:1","b:2"],"Layers":[]},{"Config":"d","RepoTags":null,"Layers":[]}]`
		oci    = `{"manifests":[{"annotations":{"io.containerd.image.name":"a:1","org.opencontainers.image.ref.name":"1"}},
			{"annotations":{"org.opencontainers.image.ref.name":"b:2"}},{}]}`
	)
	for name, test := range map[string]struct {
		files []file
		want  []string
	}{
		"docker save":        {[]file{{manifestName, []byte(docker), 0o644}}, []string{"a:1", "b:2"}},
		"OCI layout":         {[]file{{indexName, []byte(oci), 0o644}}, []string{"a:1", "b:2"}},
		"both, docker first": {[]file{{indexName, []byte(`{}`), 0o644}, {manifestName, []byte(docker), 0o644}}, []string{"a:1", "b:2"}},
	} {
		t.Run(name, func(t *testing.T) {
			content, err := archive(test.files...)
			if err != nil {
				t.Fatal(err)
			}
			got, err := read(bytes.NewReader(content))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got.Names); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
			if got.Digest != digest(content) {
				t.Error("the digest is not that of the whole file")
			}
		})
	}
}

func TestReadRefusesWhatIsNoImage(t *testing.T) {
	nameless, err := archive(file{"README", []byte("hello"), 0o644})
	if err != nil {
		t.Fatal(err)
	}
	broken, err := archive(file{manifestName, []byte("{"), 0o644})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		content []byte
		want    string
	}{
		"a tar of something else": {nameless, "names no image"},
		"a broken manifest":       {broken, "manifest.json"},
		"no tar":                  {bytes.Repeat([]byte("x"), 1024), "tar"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := read(bytes.NewReader(test.content)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want it to say %q", err, test.want)
			}
		})
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none.tar")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error is %v, want that the file does not exist", err)
	}
}
