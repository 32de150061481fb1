package rootfs

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
)

// NonRoot is the user and group that every image runs as. The restricted Pod
// Security Standard asks for a number other than 0; this one is the custom of
// images without a shell.
const NonRoot = 65532

// permissions keeps the sticky bit (for /tmp) and drops setuid and setgid:
// nothing in these images may gain privileges.
const permissions = 0o1777

// Node is a file, a folder or a link.
type Node struct {
	// Type is one of tar.TypeReg, TypeDir and TypeSymlink.
	Type byte
	Mode int64
	UID  int
	GID  int
	// Link is the target of a symbolic link.
	Link string
	Body []byte
}

// Tree is a file tree by clean path without a leading slash.
type Tree map[string]Node

// Base is what every image has: the users that its files name, and a folder
// for temporary files.
func Base() Tree {
	t := Tree{}
	t.File("etc/passwd", 0o644, fmt.Appendf(nil,
		"root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:%[1]d:%[1]d:nonroot:/tmp:/sbin/nologin\n", NonRoot))
	t.File("etc/group", 0o644, fmt.Appendf(nil, "root:x:0:\nnonroot:x:%d:\n", NonRoot))
	t["tmp"] = Node{Type: tar.TypeDir, Mode: 0o1777}
	return t
}

// File adds a file of root's.
func (t Tree) File(name string, mode int64, body []byte) {
	t[name] = Node{Type: tar.TypeReg, Mode: mode, Body: body}
}

// Writable adds a folder of the image's user.
func (t Tree) Writable(name string) {
	t[name] = Node{Type: tar.TypeDir, Mode: 0o755, UID: NonRoot, GID: NonRoot}
}

// Symlink adds a symbolic link.
func (t Tree) Symlink(name, target string) {
	t[name] = Node{Type: tar.TypeSymlink, Mode: 0o777, Link: target}
}

// Write writes the tree as a tar stream: folders before what is in them,
// missing folders added, nothing in it but the tree's own content.
func (t Tree) Write(w io.Writer) error {
	full := t.withParents()
	tw := tar.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(full)) {
		if err := writeNode(tw, name, full[name]); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return tw.Close()
}

func (t Tree) withParents() Tree {
	full := maps.Clone(t)
	for name := range t {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if _, ok := full[dir]; !ok {
				full[dir] = Node{Type: tar.TypeDir, Mode: 0o755}
			}
		}
	}
	return full
}

func writeNode(tw *tar.Writer, name string, n Node) error {
	if n.Type == tar.TypeDir {
		name += "/"
	}
	err := tw.WriteHeader(&tar.Header{
		Typeflag: n.Type,
		Name:     name,
		Linkname: n.Link,
		Mode:     n.Mode & permissions,
		Uid:      n.UID,
		Gid:      n.GID,
		Size:     int64(len(n.Body)),
	})
	if err != nil {
		return err
	}
	_, err = tw.Write(n.Body)
	return err
}

// Read reads a tar stream into a tree, without the entries that drop names.
// Devices are left out: the container runtime makes its own.
func Read(r io.Reader, drop func(name string) bool) (Tree, error) {
	t := Tree{}
	tr := tar.NewReader(r)
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read tar: %w", err)
		}
		name := clean(h.Name)
		if name == "." {
			continue
		}
		n, ok, err := readNode(t, tr, h)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		if ok {
			t[name] = n
		}
	}
	// Only now, as a file that stays may have been a hard link to one that goes.
	maps.DeleteFunc(t, func(name string, _ Node) bool { return drop(name) })
	return t, nil
}

func readNode(t Tree, body io.Reader, h *tar.Header) (n Node, ok bool, err error) {
	n = Node{Type: h.Typeflag, Mode: h.Mode & permissions, UID: h.Uid, GID: h.Gid}
	switch h.Typeflag {
	case tar.TypeReg:
		n.Body, err = io.ReadAll(body)
	case tar.TypeSymlink:
		n.Link = h.Linkname
	case tar.TypeLink:
		// A copy: in the order of paths a link might come before its target.
		if n, ok = t[clean(h.Linkname)]; !ok {
			return n, false, fmt.Errorf("hard link to %s, which is not in the archive before it", h.Linkname)
		}
	case tar.TypeDir:
	default:
		return n, false, nil
	}
	return n, err == nil, err
}

// clean makes an archive's "./etc/passwd" or "/etc/passwd" a tree's
// "etc/passwd"; rooting it first keeps ".." inside.
func clean(name string) string {
	if p := strings.TrimPrefix(path.Clean("/"+name), "/"); p != "" {
		return p
	}
	return "."
}
