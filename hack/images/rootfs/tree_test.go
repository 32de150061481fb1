package rootfs

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
)

func TestWriteSortsAndNormalises(t *testing.T) {
	tree := Tree{}
	tree.File("usr/bin/tool", 0o4755, []byte("#!"))
	tree.Symlink("bin", "usr/bin")
	tree.Writable("data")
	tree["tmp"] = Node{Type: tar.TypeDir, Mode: 0o1777}

	type entry struct {
		Name, Link string
		Type       byte
		Mode       int64
		UID        int
		Size       int64
	}
	want := []entry{
		{Name: "bin", Link: "usr/bin", Type: tar.TypeSymlink, Mode: 0o777},
		{Name: "data/", Type: tar.TypeDir, Mode: 0o755, UID: NonRoot},
		{Name: "tmp/", Type: tar.TypeDir, Mode: 0o1777},
		{Name: "usr/", Type: tar.TypeDir, Mode: 0o755},
		{Name: "usr/bin/", Type: tar.TypeDir, Mode: 0o755},
		{Name: "usr/bin/tool", Type: tar.TypeReg, Mode: 0o755, Size: 2},
	}
	var got []entry
	for _, h := range headers(t, written(t, tree)) {
		got = append(got, entry{h.Name, h.Linkname, h.Typeflag, h.Mode, h.Uid, h.Size})
		if !h.ModTime.Equal(time.Unix(0, 0)) {
			t.Errorf("%s has the time %s, want zero", h.Name, h.ModTime)
		}
	}
	same.As(t, "entries", want, got)
}

func TestReadIsTheInverseOfWrite(t *testing.T) {
	want := Base()
	want.Writable("data")
	want.Symlink("data/log", "/dev/stdout")
	want.File("data/empty", 0o600, nil)

	got, err := Read(bytes.NewReader(written(t, want)), keepAll)
	must.Succeed(t, err)
	full := want.withParents()
	full["data/empty"] = Node{Type: tar.TypeReg, Mode: 0o600, Body: []byte{}}
	same.As(t, "tree", full, got)
}

func TestArchivesStayInsideTheirTree(t *testing.T) {
	tests := map[string]struct {
		headers []tar.Header
		drop    func(string) bool
		want    Tree
		wantErr string
	}{
		"names are made relative and stay inside": {
			headers: []tar.Header{
				{Name: "./", Typeflag: tar.TypeDir},
				{Name: "./a/../b", Typeflag: tar.TypeReg, Mode: 0o644},
				{Name: "../../etc/shadow", Typeflag: tar.TypeReg, Mode: 0o600},
			},
			want: Tree{
				"b":          {Type: tar.TypeReg, Mode: 0o644, Body: []byte{}},
				"etc/shadow": {Type: tar.TypeReg, Mode: 0o600, Body: []byte{}},
			},
		},
		"setuid goes, owners stay": {
			headers: []tar.Header{{Name: "su", Typeflag: tar.TypeReg, Mode: 0o4755, Uid: 7, Gid: 8}},
			want:    Tree{"su": {Type: tar.TypeReg, Mode: 0o755, UID: 7, GID: 8, Body: []byte{}}},
		},
		"devices go": {
			headers: []tar.Header{{Name: "null", Typeflag: tar.TypeChar}, {Name: "pipe", Typeflag: tar.TypeFifo}},
			want:    Tree{},
		},
		"a hard link is a copy, also of a file that goes": {
			headers: []tar.Header{
				{Name: "perl", Typeflag: tar.TypeReg, Mode: 0o755},
				{Name: "tool", Typeflag: tar.TypeLink, Linkname: "./perl"},
			},
			drop: func(name string) bool { return name == "perl" },
			want: Tree{"tool": {Type: tar.TypeReg, Mode: 0o755, Body: []byte{}}},
		},
		"a hard link to nothing": {
			headers: []tar.Header{{Name: "tool", Typeflag: tar.TypeLink, Linkname: "./perl"}},
			wantErr: "read tool: hard link to ./perl, which is not in the archive before it",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if tt.drop == nil {
				tt.drop = keepAll
			}
			got, err := Read(archive(t, tt.headers), tt.drop)
			if text := errText(err); text != tt.wantErr {
				t.Fatalf("error = %q, want %q", text, tt.wantErr)
			}
			same.As(t, "tree", tt.want, got)
		})
	}
}

func keepAll(string) bool { return false }

func written(t *testing.T, tree Tree) []byte {
	t.Helper()
	var buf bytes.Buffer
	must.Succeed(t, tree.Write(&buf))
	return buf.Bytes()
}

func headers(t *testing.T, content []byte) []*tar.Header {
	t.Helper()
	var all []*tar.Header
	for tr := tar.NewReader(bytes.NewReader(content)); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		must.Succeed(t, err)
		all = append(all, h)
	}
}

func archive(t *testing.T, headers []tar.Header) io.Reader {
	t.Helper()
	var buf bytes.Buffer
	tw := tar.NewWriter(&buf)
	for _, h := range headers {
		must.Succeed(t, tw.WriteHeader(&h))
	}
	must.Succeed(t, tw.Close())
	return &buf
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
