package command

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/html"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui/runs"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// serveArchives serves pages of the runs in a folder of archives, until ctx ends. No cluster is asked.
// The files are read once, beside the pages; of each, a line is kept.
func (c *config) serveArchives(ctx context.Context, group *errgroup.Group, o *uiOptions) (*ui.Server, error) {
	files, left, err := archives(o.local, c.overrides.Context.Namespace, "")
	if err != nil {
		return nil, err
	}
	to, err := c.templates(ctx, &o.links, nil)
	if err != nil {
		return nil, err
	}
	known := runs.NewCollection()
	backend := &archiveBackend{config: c, files: map[runs.Key]archiveFile{}}
	server, err := ui.Listen(o.port, ui.Config{
		Runs: known, Backend: backend, Scope: "the archives in " + o.folder, Links: to, Report: html.Linked(to), Now: time.Now,
	})
	if err != nil {
		return nil, err
	}
	group.Go(func() error {
		backend.read(ctx, files, known)
		if left > 0 {
			known.Trouble("archives", leftOut(left))
		}
		return nil
	})
	group.Go(func() error { return server.Serve(ctx) })
	return server, nil
}

// archiveFile is where a run is, and when it finished.
type archiveFile struct {
	path string
	at   time.Time
}

// archiveBackend has the runs of archives.
type archiveBackend struct {
	config *config
	mu     sync.Mutex
	files  map[runs.Key]archiveFile
}

var _ ui.Backend = (*archiveBackend)(nil)

// read adds the runs of files. Of two of one name, the one that finished last is shown.
func (b *archiveBackend) read(ctx context.Context, files []string, known *runs.Collection) {
	unread, last := int64(0), error(nil)
	for _, path := range files {
		if ctx.Err() != nil {
			return
		}
		lt, _, err := b.config.readArchive(path)
		if err != nil {
			unread, last = unread+1, err
			continue
		}
		if b.add(lt, path) {
			known.Put(lt)
		}
	}
	known.Complete()
	if unread > 0 { // before the end, a trouble would be taken for the reason why a run is not there
		known.Trouble("files", fmt.Sprintf("%s cannot be read; the last of them: %v", text.Plural(unread, "archive"), last))
	}
}

// add notes where a run is. It returns false if a later one of the name is known.
func (b *archiveBackend) add(lt *v1beta1.LoadTest, path string) bool {
	key, file := runs.Key{Namespace: lt.Namespace, Name: lt.Name}, archiveFile{path: path}
	if lt.Status.CompletionTime != nil {
		file.at = lt.Status.CompletionTime.Time
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if other, ok := b.files[key]; ok && !file.at.After(other.at) {
		return false
	}
	b.files[key] = file
	return true
}

func (b *archiveBackend) path(key runs.Key) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if file, ok := b.files[key]; ok {
		return file.path, nil
	}
	return "", fmt.Errorf("LoadTest %s/%s is in no archive of the folder", key.Namespace, key.Name)
}

func (b *archiveBackend) Open(_ context.Context, key runs.Key) (*v1beta1.LoadTest, error) {
	path, err := b.path(key)
	if err != nil {
		return nil, err
	}
	lt, _, err := b.config.readArchive(path)
	return lt, err
}

func (b *archiveBackend) Results(_ context.Context, lt *v1beta1.LoadTest) (steps []*archive.Step, notes []string) {
	path, err := b.path(runs.Key{Namespace: lt.Namespace, Name: lt.Name})
	if err != nil {
		return nil, []string{err.Error()}
	}
	_, kept, err := b.config.readArchive(path)
	if err != nil {
		return nil, []string{err.Error()}
	}
	for _, ref := range lt.Status.ResultRefs {
		if ref.ConfigMap == "" {
			continue
		}
		step, err := unpack(lt, ref, kept.find)
		if err != nil {
			notes = append(notes, fmt.Sprintf("No plots over time of step %s: ConfigMap %s: %v", ref.Step, ref.ConfigMap, err))
			continue
		}
		steps = append(steps, step)
	}
	return steps, notes
}

// errArchived is that an archive is read only.
var errArchived = errors.New("the run is in an archive: nothing can be done with it")

func (b *archiveBackend) Stop(context.Context, runs.Key) error { return errArchived }

func (b *archiveBackend) Again(context.Context, runs.Key) (runs.Key, error) {
	return runs.Key{}, errArchived
}
