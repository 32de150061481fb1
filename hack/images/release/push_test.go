package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/loadtest-dev/loadtest-operator/hack/components/must"
	"github.com/loadtest-dev/loadtest-operator/hack/components/same"
)

const chart = "../../../charts/loadtest-operator"

// pushedImages are those that the chart has, without anything in them.
func pushedImages(t *testing.T, to Release) map[string]Pushed {
	t.Helper()
	return map[string]Pushed{
		"loadtest-dev/loadtest-operator": pushedImage(t, to, "operator"), "loadtest-dev/loadtest-worker": pushedImage(t, to, "worker"),
	}
}

func pushedImage(t *testing.T, to Release, image string) Pushed {
	t.Helper()
	index, err := to.Index(image, platforms(t))
	must.Succeed(t, err)
	pushed, err := to.PushImage(t.Context(), image, index)
	must.Succeed(t, err)
	return pushed
}

// started is a registry on loopback; the result is a host and a path.
func started(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://") + "/example"
}

// pulled reads a manifest by its reference.
func pulled(t *testing.T, reference string) *remote.Descriptor {
	t.Helper()
	ref, err := name.ParseReference(reference)
	must.Succeed(t, err)
	descriptor, err := remote.Get(ref)
	must.Succeed(t, err)
	return descriptor
}

// platforms are empty images.
func platforms(t *testing.T) (all []v1.Image) {
	t.Helper()
	for _, architecture := range Platforms {
		img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
		img, err := mutate.ConfigFile(img, &v1.ConfigFile{OS: "linux", Architecture: architecture})
		must.Succeed(t, err)
		all = append(all, img)
	}
	return all
}

func TestImagesArePushedForAllPlatforms(t *testing.T) {
	to := at(started(t))
	reference := pushedImage(t, to, "operator").String()
	tagged := to.Registry + "/operator:1.2.3"
	index := pulled(t, tagged)
	if want := tagged + "@" + index.Digest.String(); reference != want {
		t.Errorf("reference = %s, want %s", reference, want)
	}
	var manifest v1.IndexManifest
	must.Succeed(t, json.Unmarshal(index.Manifest, &manifest))
	if manifest.MediaType != types.OCIImageIndex || len(manifest.Manifests) != len(Platforms) {
		t.Fatalf("%s with %d images, want an OCI index of %d", manifest.MediaType, len(manifest.Manifests), len(Platforms))
	}
	const image = "org.opencontainers.image."
	want := map[string]string{
		image + "title": "operator", image + "description": "The operator of loadtest-operator", image + "version": "1.2.3",
		image + "source": "https://example.com/repository", image + "url": "https://example.com/repository",
		image + "revision": "4bbd7f8", image + "created": "2026-05-01T12:00:00Z", image + "licenses": "Apache-2.0",
	}
	same.As(t, "annotations of the index", want, manifest.Annotations)
	for i, architecture := range Platforms {
		listed := manifest.Manifests[i]
		if listed.Platform == nil || listed.Platform.OS != "linux" || listed.Platform.Architecture != architecture || listed.MediaType != types.OCIManifestSchema1 {
			t.Errorf("image %d is %s for %v, want an OCI image for linux/%s", i, listed.MediaType, listed.Platform, architecture)
		}
		var own v1.Manifest
		must.Succeed(t, json.Unmarshal(pulled(t, to.Registry+"/operator@"+listed.Digest.String()).Manifest, &own))
		same.As(t, "annotations of "+architecture, want, own.Annotations)
	}
}

func TestTheSameCommitGivesTheSameDigests(t *testing.T) {
	to := at(started(t))
	digests := func() (all []string) {
		images := pushedImages(t, to)
		for _, image := range images {
			all = append(all, image.String())
		}
		slices.Sort(all)
		chart, err := to.PushChart(t.Context(), chart, images)
		must.Succeed(t, err)
		return append(all, chart.String())
	}
	first := digests()
	if diff := cmp.Diff(first, digests()); diff != "" {
		t.Errorf("pushed twice (-first +second):\n%s", diff)
	}
	to.Revision = "another"
	for i, other := range digests() {
		if other == first[i] {
			t.Errorf("another commit gave the same digest, %s", other)
		}
	}
}

// The chart is what the folder has, but for the version and the names of the images.
func TestChartNamesItsOwnImages(t *testing.T) {
	to := at(started(t))
	images := pushedImages(t, to)
	if _, err := to.PushChart(t.Context(), chart, images); err != nil {
		t.Fatal(err)
	}
	pushed := pulled(t, to.Registry+"/charts/loadtest-operator:1.2.3")
	var manifest v1.Manifest
	must.Succeed(t, json.Unmarshal(pushed.Manifest, &manifest))
	if manifest.Config.MediaType != chartConfig || len(manifest.Layers) != 1 || manifest.Layers[0].MediaType != chartContent {
		t.Fatalf("manifest %s, want one of a Helm chart", pushed.Manifest)
	}
	var about struct{ Name, Version, AppVersion string }
	blob(t, to, manifest.Config.Digest, func(r io.Reader) error { return json.NewDecoder(r).Decode(&about) })
	if about.Name != "loadtest-operator" || about.Version != "1.2.3" || about.AppVersion != "1.2.3" {
		t.Errorf("the configuration says %+v, want loadtest-operator 1.2.3", about)
	}
	files := map[string]string{}
	blob(t, to, manifest.Layers[0].Digest, func(r io.Reader) error { return unpack(r, files) })
	compareWithFolder(t, images, files)
	repository := pulled(t, to.Registry+"/charts/loadtest-operator:artifacthub.io")
	if !strings.Contains(string(repository.Manifest), hubContent) {
		t.Errorf("ArtifactHub finds %s", repository.Manifest)
	}
}

// compareWithFolder undoes what the release put into the files, and compares them with the folder's.
func compareWithFolder(t *testing.T, images map[string]Pushed, files map[string]string) {
	t.Helper()
	for old, image := range images {
		for file, places := range map[string][][2]string{
			"values.yaml": {{image.repository.String(), old}, {"digest: " + image.digest.String(), `digest: ""`}},
			"Chart.yaml":  {{image.String(), old + ":0.1.0"}},
		} {
			file = "loadtest-operator/" + file
			for _, place := range places {
				if n := strings.Count(files[file], place[0]); n != 1 {
					t.Errorf("%s has %s %d times, want once", file, place[0], n)
				}
				files[file] = strings.Replace(files[file], place[0], place[1], 1)
			}
		}
	}
	files["loadtest-operator/Chart.yaml"] = strings.ReplaceAll(files["loadtest-operator/Chart.yaml"], "1.2.3", "0.1.0")
	for file, content := range files {
		want := must.ReadFile(t, filepath.Join(chart, "..", file))
		if diff := cmp.Diff(string(want), content); diff != "" {
			t.Errorf("%s (-folder +pushed):\n%s", file, diff)
		}
		if strings.HasSuffix(file, ".go") || strings.Contains(file, "testdata") {
			t.Errorf("%s is pushed", file)
		}
	}
	for _, file := range []string{"crds/loadtest.dev_loadtests.yaml", "templates/deployment.yaml", "files/dashboard.json", "README.md", "values.schema.json"} {
		if _, ok := files["loadtest-operator/"+file]; !ok {
			t.Errorf("%s is missing among %q", file, slices.Sorted(maps.Keys(files)))
		}
	}
}

// blob reads one of the chart's.
func blob(t *testing.T, to Release, digest v1.Hash, read func(io.Reader) error) {
	t.Helper()
	ref, err := name.NewDigest(to.Registry + "/charts/loadtest-operator@" + digest.String())
	must.Succeed(t, err)
	layer, err := remote.Layer(ref)
	must.Succeed(t, err)
	content, err := layer.Compressed()
	must.Succeed(t, err)
	must.Succeed(t, errors.Join(read(content), content.Close()))
}

// unpack reads an archive.
func unpack(r io.Reader, files map[string]string) error {
	plain, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	archive := tar.NewReader(plain)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !header.ModTime.Equal(at("").Created) {
			return fmt.Errorf("%s is of %s, want the commit's time", header.Name, header.ModTime)
		}
		var content bytes.Buffer
		if _, err := io.Copy(&content, archive); err != nil {
			return err
		}
		files[header.Name] = content.String()
	}
}

func TestChartWithOtherImagesIsNotPushed(t *testing.T) {
	to := at(started(t))
	_, err := to.PushChart(t.Context(), chart, map[string]Pushed{"loadtest-dev/renamed": pushedImage(t, to, "operator")})
	if err == nil || !strings.Contains(err.Error(), "loadtest-dev/renamed") {
		t.Errorf("error = %v, want one about the image that the chart does not have", err)
	}
}
