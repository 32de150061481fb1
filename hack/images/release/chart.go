package release

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"sigs.k8s.io/yaml"
)

// Media types of Helm's charts, and of what ArtifactHub reads about a repository.
const (
	chartConfig  = "application/vnd.cncf.helm.config.v1+json"
	chartContent = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
	hubConfig    = "application/vnd.cncf.artifacthub.config.v1+yaml"
	hubContent   = "application/vnd.cncf.artifacthub.repository-metadata.layer.v1.yaml"
	// hubTag is where ArtifactHub looks for it, hubFile the file beside the charts.
	hubTag, hubFile = "artifacthub.io", "artifacthub-repo.yml"
)

// Chart is a packed chart.
type Chart struct {
	// Name and Description stand in Chart.yaml; Metadata is that file as JSON.
	Name, Description string
	Metadata          []byte
	// Archive is what Helm installs.
	Archive []byte
}

// PackChart packs the chart of a folder, with the release's version and with its images, by what
// the chart calls them.
func (r Release) PackChart(folder string, images map[string]Pushed) (c Chart, err error) {
	files, err := r.chart(folder, images)
	if err != nil {
		return c, fmt.Errorf("chart %s: %w", folder, err)
	}
	if c.Metadata, err = yaml.YAMLToJSON(files["Chart.yaml"]); err == nil {
		err = json.Unmarshal(c.Metadata, &c)
	}
	if err != nil {
		return c, fmt.Errorf("read Chart.yaml: %w", err)
	}
	var all []packed
	for _, file := range slices.Sorted(maps.Keys(files)) {
		all = append(all, packed{path.Join(c.Name, file), 0o644, files[file]})
	}
	if c.Archive, err = pack(all, r.Created); err != nil {
		return c, fmt.Errorf("pack chart %s: %w", folder, err)
	}
	return c, nil
}

// PushChart pushes the chart of a folder, with its images, which have been pushed, by what the chart
// calls them.
func (r Release) PushChart(ctx context.Context, folder string, images map[string]Pushed) (Pushed, error) {
	chart, err := r.PackChart(folder, images)
	if err != nil {
		return Pushed{}, err
	}
	tag, err := r.tag("charts/" + chart.Name)
	if err != nil {
		return Pushed{}, err
	}
	annotations := r.annotations(chart.Name, chart.Description)
	pushed, err := newArtifact(chartConfig, chart.Metadata, chartContent, chart.Archive, annotations).push(ctx, tag.Context(), r.Version)
	if err != nil {
		return Pushed{}, err
	}
	hub, err := os.ReadFile(filepath.Join(folder, "..", hubFile))
	if err != nil {
		return Pushed{}, err
	}
	_, err = newArtifact(hubConfig, []byte("{}"), hubContent, hub, nil).push(ctx, tag.Context(), hubTag)
	return pushed, err
}

// chart reads the files of a chart, but for those that .helmignore names, and puts the
// version and the images into them.
func (r Release) chart(folder string, images map[string]Pushed) (map[string][]byte, error) {
	ignored, err := os.ReadFile(filepath.Join(folder, ".helmignore"))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	root := os.DirFS(folder)
	err = fs.WalkDir(root, ".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ignores(string(ignored), file, entry.IsDir()):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			return nil
		}
		files[file], err = fs.ReadFile(root, file)
		return err
	})
	if err != nil {
		return nil, err
	}
	return files, r.stamp(files, images)
}

// ignores says whether a line of .helmignore names a file or a folder: by its last element,
// as all of ours do.
func ignores(lines, file string, folder bool) bool {
	for line := range strings.Lines(lines) {
		line = strings.TrimSpace(line)
		pattern, onlyFolders := strings.CutSuffix(line, "/")
		if line == "" || strings.HasPrefix(line, "#") || onlyFolders && !folder {
			continue
		}
		if matched, err := path.Match(pattern, path.Base(file)); err == nil && matched {
			return true
		}
	}
	return false
}

var (
	chartVersion = regexp.MustCompile(`(?m)^(version|appVersion): .*$`)
	appVersion   = regexp.MustCompile(`(?m)^appVersion: "?([^"\n]+)"?$`)
)

// noDigest is what values.yaml has in the folder, once for each image.
const noDigest = "digest: \"\"\n"

// stamp replaces the version of Chart.yaml, and the images of it and of values.yaml, which
// are then pulled by their digests. Each must be there: a chart whose images have other names
// would install those.
func (r Release) stamp(files map[string][]byte, images map[string]Pushed) error {
	before := appVersion.FindSubmatch(files["Chart.yaml"])
	if before == nil {
		return errors.New("no appVersion in Chart.yaml")
	}
	for old, image := range images {
		repository := image.repository.String()
		for _, place := range []struct{ file, old, new string }{
			{"values.yaml", "repository: " + old + "\n", "repository: " + repository + "\n"},
			{"Chart.yaml", "image: " + old + ":" + string(before[1]) + "\n", "image: " + image.String() + "\n"},
		} {
			if n := bytes.Count(files[place.file], []byte(place.old)); n != 1 {
				return fmt.Errorf("%s has %q %d times, want once", place.file, strings.TrimSpace(place.old), n)
			}
			files[place.file] = bytes.Replace(files[place.file], []byte(place.old), []byte(place.new), 1)
		}
		values, err := withDigest(files["values.yaml"], repository, image.digest)
		if err != nil {
			return err
		}
		files["values.yaml"] = values
	}
	files["Chart.yaml"] = chartVersion.ReplaceAll(files["Chart.yaml"], []byte("${1}: "+r.Version))
	return nil
}

// withDigest has the digest in the first place for one after the repository's line.
func withDigest(values []byte, repository string, digest v1.Hash) ([]byte, error) {
	at := bytes.Index(values, []byte("repository: "+repository+"\n"))
	before, after, found := bytes.Cut(values[at:], []byte(noDigest))
	if !found {
		return nil, fmt.Errorf("values.yaml has no %s after %s", strings.TrimSpace(noDigest), repository)
	}
	return slices.Concat(values[:at], before, []byte("digest: "+digest.String()+"\n"), after), nil
}
