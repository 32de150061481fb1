package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"time"
)

// packed is a file of an archive.
type packed struct {
	name    string
	mode    int64
	content []byte
}

// pack makes an archive of files in their order, all of one time.
func pack(files []packed, created time.Time) ([]byte, error) {
	var to bytes.Buffer
	compressed := gzip.NewWriter(&to)
	if err := errors.Join(writeTar(compressed, files, created), compressed.Close()); err != nil {
		return nil, err
	}
	return to.Bytes(), nil
}

func writeTar(w io.Writer, files []packed, created time.Time) error {
	archive := tar.NewWriter(w)
	for _, f := range files {
		header := &tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.content)), ModTime: created}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(f.content); err != nil {
			return err
		}
	}
	return archive.Close()
}
