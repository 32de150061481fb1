package objectstore

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// ArchiveEnd is how the names of archives end.
	ArchiveEnd = ".json.gz"
	// atOnce is how many archives are copied at once.
	atOnce = 8
	// maxArchive bounds an archive: the operator writes none of more than some MB.
	maxArchive = 256 << 20
	// maxList bounds what is read of a page of a list, which has at most 1,000 keys of 1 KiB.
	maxList = 8 << 20
	// mostKeys bounds the keys that are listed.
	mostKeys = 1_000_000
)

// object is one of a list.
type object struct {
	Key          string
	Size         int64
	LastModified time.Time
}

// Copy writes the archives of the runs whose name begins so into a folder, as
// NAMESPACE/NAME/UID.json.gz with the times at which they were written; an empty namespace: of all;
// a name that ends in a slash: of that name alone. That there is none is an error. Of more than most the newest are; left is how many are left out. It tells progress, now and then
// at once from several goroutines, how many of how many have been copied.
func (s *Store) Copy(ctx context.Context, folder, namespace, name string, most int, progress func(done, of int)) (left int, err error) {
	list, err := s.archives(ctx, namespace, name)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", s.url, err)
	}
	if len(list) == 0 {
		pattern := strings.TrimSuffix(cmp.Or(namespace, "*")+"/"+name, "/")
		return 0, fmt.Errorf("%s: contains no %s*/*%s: give the prefix that has one for each namespace, and the namespace by -n", s.url, pattern, ArchiveEnd)
	}
	slices.SortFunc(list, func(a, b object) int {
		return cmp.Or(b.LastModified.Compare(a.LastModified), cmp.Compare(a.Key, b.Key))
	})
	left = max(0, len(list)-most)
	list = list[:len(list)-left]
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	var done atomic.Int64
	for _, o := range list {
		group.Go(func() error {
			err := s.CopyOne(ctx, filepath.Join(folder, s.local(o.Key)), o.Key, o.LastModified)
			progress(int(done.Add(1)), len(list))
			return err
		})
	}
	return left, group.Wait()
}

// CopyOne writes an object into a file, which it makes, with the time at which it was written; zero:
// now.
func (s *Store) CopyOne(ctx context.Context, file, key string, written time.Time) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s%s/%s: %w", Scheme, s.bucket.Name, key, err)
		}
	}()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	from, err := s.get(ctx, key, nil)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	to, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(to, io.LimitReader(from, maxArchive+1))
	if err = errors.Join(err, to.Close()); err != nil {
		return err
	}
	if n > maxArchive {
		return fmt.Errorf("is larger than %d MiB: no archive of a run", maxArchive>>20)
	}
	if written.IsZero() {
		return nil
	}
	return os.Chtimes(file, written, written)
}

// archives lists the archives of the runs whose name begins so.
func (s *Store) archives(ctx context.Context, namespace, name string) (list []object, err error) {
	under := s.prefix
	if under != "" {
		under += "/"
	}
	if namespace != "" {
		under += namespace + "/" + name
	}
	query := url.Values{"list-type": {"2"}, "prefix": {under}}
	for seen := 0; ; {
		page, err := s.page(ctx, query)
		if err != nil {
			return nil, err
		}
		for _, o := range page.Contents {
			if s.isArchive(o.Key, name) {
				list = append(list, o)
			}
		}
		if seen += len(page.Contents); seen > mostKeys {
			return nil, fmt.Errorf("has more than %d objects: give a longer prefix", mostKeys)
		}
		if !page.IsTruncated {
			return list, nil
		}
		if page.NextContinuationToken == "" || page.NextContinuationToken == query.Get("continuation-token") {
			return nil, errors.New("the object store's list has no end")
		}
		query.Set("continuation-token", page.NextContinuationToken)
	}
}

// page is one of a list.
type page struct {
	Contents              []object
	IsTruncated           bool
	NextContinuationToken string
}

func (s *Store) page(ctx context.Context, query url.Values) (p page, err error) {
	body, err := s.get(ctx, "", query)
	if err != nil {
		return p, err
	}
	defer func() { _ = body.Close() }()
	if err := xml.NewDecoder(io.LimitReader(body, maxList)).Decode(&p); err != nil {
		return p, fmt.Errorf("the object store's answer is no list of objects: %w", err)
	}
	return p, nil
}

// isArchive says whether a key is that of an archive, in a place that is in any folder it is
// copied to.
func (s *Store) isArchive(key, name string) bool {
	local := s.local(key)
	parts := strings.Split(local, "/")
	return filepath.IsLocal(local) && len(parts) == 3 && strings.HasPrefix(parts[1]+"/", name) && strings.HasSuffix(parts[2], ArchiveEnd) &&
		!slices.ContainsFunc(parts, func(part string) bool { return part == "" || part == "." || part == ".." })
}

// local is a key without the prefix.
func (s *Store) local(key string) string {
	if s.prefix == "" {
		return key
	}
	return strings.TrimPrefix(key, s.prefix+"/")
}
