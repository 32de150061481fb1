package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/objectstore"
)

// source is where a report reads a LoadTest from.
type source struct {
	// file is one with a LoadTest, kept is what the operator keeps beyond LoadTests: a
	// file of one run, or a folder of many. Both empty: the cluster.
	file, kept string
}

// args asks for the name of a LoadTest, unless a file has it.
func (s *source) args(cmd *cobra.Command, args []string) error {
	switch {
	case s.file != "" && s.kept != "":
		return errors.New("give either -f or --from, not both")
	case (s.file != "" || s.kept != "") && len(args) == 0:
		return nil
	}
	return oneName(cmd, args)
}

// fetchReported copies what is to be reported, if it is in an object store, and returns what removes it.
func (c *config) fetchReported(ctx context.Context, from *source, args []string) (remove func(), err error) {
	namespace, name := "", ""
	if objectstore.IsURL(from.kept) {
		switch {
		case strings.HasSuffix(from.kept, objectstore.ArchiveEnd): // of one run
		case len(args) == 0:
			return nil, fmt.Errorf("--from %s: is a prefix of many runs: name the LoadTest", from.kept)
		default:
			name = args[0] + "/"
			if namespace, err = c.namespace(); err != nil {
				return nil, err
			}
		}
	}
	const newest = 10 // the last to finish is among the last that were written
	from.kept, remove, err = c.fetch(ctx, from.kept, namespace, name, newest)
	return remove, err
}

func isFolder(path string) bool {
	found, err := os.Stat(path)
	return err == nil && found.IsDir()
}

// saved is the LoadTest of a file, with the results of its steps.
func (c *config) saved(from source, args []string) (*v1beta1.LoadTest, archived, error) {
	folder := isFolder(from.kept)
	switch {
	case from.kept == "":
		return c.readSaved(from.file, strings.Join(args, ""))
	case folder && len(args) == 0:
		return nil, archived{}, fmt.Errorf("--from %s: is a folder of many runs: name the LoadTest", from.kept)
	case folder:
		return c.latest(from.kept, args[0])
	case len(args) > 0:
		return nil, archived{}, fmt.Errorf("--from %s: is not a folder: leave out the name, or give the folder", from.kept)
	}
	return c.readSaved(from.kept, "")
}

// namespace is the one of the flag or, without it, of the context.
func (c *config) namespace() (string, error) {
	if given := c.overrides.Context.Namespace; given != "" {
		return given, nil
	}
	namespace, _, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(c.rules, &c.overrides).Namespace()
	if err != nil {
		return "", fmt.Errorf("read the namespace of the context (--namespace): %w", err)
	}
	return namespace, nil
}

// latest is the run of a name that finished last, of those in a folder: it has
// NAMESPACE/NAME/UID.json.gz, as the operator writes them.
func (c *config) latest(folder, name string) (latest *v1beta1.LoadTest, results archived, err error) {
	namespace, err := c.namespace()
	if err != nil {
		return nil, archived{}, err
	}
	pattern := filepath.Join(namespace, name, "*.json.gz")
	files, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil || len(files) == 0 {
		return nil, archived{}, fmt.Errorf("--from %s: contains no %s: give the folder that has one for each namespace, and the namespace by -n", folder, pattern)
	}
	for _, file := range files {
		lt, found, err := c.readSaved(file, "")
		if err != nil {
			return nil, archived{}, err
		}
		if latest == nil || latest.Status.CompletionTime.Before(lt.Status.CompletionTime) {
			latest, results = lt, found
		}
	}
	return latest, results, nil
}

// addLoads adds the LoadTests of the loads of a run of a folder, or of a prefix of an object store, with the
// results of their steps. Each has an archive of its own; what cannot be read is said on the standard error,
// and left out.
func (c *config) addLoads(ctx context.Context, from string, lt *v1beta1.LoadTest, to *archived) {
	for i := range lt.Status.Loads {
		l := &lt.Status.Loads[i]
		one, found, err := c.archivedLoad(ctx, from, path.Join(lt.Namespace, l.Test, l.UID+objectstore.ArchiveEnd))
		if err != nil {
			c.warn(fmt.Sprintf("the report of load %s is left out: %v", l.Name, err))
			continue
		}
		to.loads, to.steps = append(to.loads, one), append(to.steps, found.steps...)
		to.changed = errors.Join(to.changed, found.changed)
	}
}

func (c *config) archivedLoad(ctx context.Context, from, archive string) (*v1beta1.LoadTest, archived, error) {
	if !filepath.IsLocal(archive) {
		return nil, archived{}, fmt.Errorf("%s is not in a folder of archives", archive)
	}
	at, remove, err := c.fetch(ctx, strings.TrimSuffix(from, "/")+"/"+archive, "", "", 1)
	if err != nil {
		return nil, archived{}, err
	}
	defer remove()
	return c.readSaved(at, "")
}
