package sink_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/sink"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// files are the names of those below a folder.
func files(t *testing.T, folder string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, strings.TrimPrefix(name, folder+"/"))
		}
		return err
	})
	must.Succeed(t, err)
	return names
}

func TestFileIsWhole(t *testing.T) {
	v := sink.Volume{Folder: t.TempDir()}
	c, text := content(t)
	must.Succeed(t, v.Put(t.Context(), key, c))
	name := filepath.Join(v.Folder, key)
	first, err := os.Stat(name)
	must.Succeed(t, err)
	must.Succeed(t, v.Put(t.Context(), key, c))
	if again, err := os.Stat(name); err != nil || !os.SameFile(first, again) {
		t.Errorf("it was written twice, %v", err)
	}
	if err := os.WriteFile(name, []byte(text[:10]), 0o600); err != nil { // as by a disk that was full
		t.Fatal(err)
	}
	must.Succeed(t, v.Put(t.Context(), key, c))
	if got, err := os.ReadFile(name); err != nil || string(got) != text {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if got := files(t, v.Folder); len(got) != 1 || got[0] != key {
		t.Errorf("files %v", got)
	}
}

func TestFileThatFailsLeavesNothing(t *testing.T) {
	v := sink.Volume{Folder: t.TempDir()}
	c := measured(t, "results")
	whole := c.Write
	for want, write := range map[string]sink.Write{
		"the connection failed": func(_ context.Context, w io.Writer) error {
			_, err := io.WriteString(w, "res")
			return errors.Join(err, errors.New("the API server is away"))
		},
		"the server did not answer in time": func(context.Context, io.Writer) error { return context.DeadlineExceeded },
	} {
		c.Write = write
		if err := v.Put(t.Context(), key, c); err == nil || sink.Explain(err) != want {
			t.Errorf("error %v", err)
		}
	}
	c.Write = whole
	if got := files(t, v.Folder); len(got) > 0 {
		t.Errorf("files %v", got)
	}
	v.Folder = filepath.Join(v.Folder, "nowhere")
	if err := v.Put(t.Context(), key, c); err == nil || sink.Explain(err) != "no such file or directory" {
		t.Errorf("without a volume: %v", err)
	}
}

// A symbolic link in the volume, which another of its users may make, leads nowhere else.
func TestLinkLeadsOutOfNoVolume(t *testing.T) {
	v, outside := sink.Volume{Folder: t.TempDir()}, t.TempDir()
	must.Succeed(t, os.Symlink(outside, filepath.Join(v.Folder, "cluster-a")))
	err := v.Put(t.Context(), key, measured(t, "results"))
	made, unread := os.ReadDir(outside)
	if err == nil || unread != nil || len(made) > 0 {
		t.Errorf("error %v, made %v (%v)", err, made, unread)
	}
}
