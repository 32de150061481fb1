//go:build e2e

package ecosystem

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

const pushedVersion = "1.2.3"

// registry is one of the distribution project, on loopback, that ends with the test.
type registry struct{ address string }

func startRegistry(t *testing.T) registry {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	r := registry{listener.Addr().String()}
	must.Succeed(t, listener.Close())
	folder := t.TempDir()
	config := filepath.Join(folder, "config.yml")
	text := fmt.Sprintf("version: 0.1\nlog: {level: error}\nstorage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: %q}\n", folder, r.address)
	must.Succeed(t, os.WriteFile(config, []byte(text), 0o600))
	program := exec.Command("docker-registry", "serve", config)
	var said bytes.Buffer
	program.Stdout, program.Stderr = &said, &said
	must.Succeed(t, program.Start())
	t.Cleanup(func() {
		_ = program.Process.Kill()
		_ = program.Wait()
		if t.Failed() {
			t.Log(said.String())
		}
	})
	must.Succeed(t, cluster.Try(t.Context(), cluster.Patience, func(ctx context.Context) error { return r.get(ctx, "", "", &struct{}{}) }))
	return r
}

// manifest is an index, or an image's.
type manifest struct {
	Manifests []struct {
		Digest   string
		Platform struct{ OS, Architecture string }
	}
	Config      struct{ Digest string }
	Layers      []struct{ Digest string }
	Annotations map[string]string
}

// get decodes what the registry has at a path.
func (r registry) get(ctx context.Context, path, accept string, into any) error {
	body, err := r.read(ctx, path, accept)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, into)
}

func (r registry) read(ctx context.Context, path, accept string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.address+"/v2/"+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", accept)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %.200s", path, answer.Status, body)
	}
	return body, err
}

// pushesAndPulls publishes a release to a registry, twice, and installs from it as far as
// one can without nodes that trust it.
func pushesAndPulls(t *testing.T) string {
	r := startRegistry(t)
	home := r.address + "/example"
	key := newCosignKey(t, "cosign")
	var said [2]string
	for i := range said {
		out, err := makePush(t.Context(), home, pushedVersion, "KEY="+key+".key")
		must.Succeed(t, err)
		said[i] = out
	}
	pushed := regexp.MustCompile(regexp.QuoteMeta(home)+`\S+@sha256:[0-9a-f]{64}`).FindAllString(said[1], -1)
	if digests := regexp.MustCompile(`\S+@sha256:\S+`); len(pushed) != 7 || !slices.Equal(digests.FindAllString(said[0], -1), pushed) {
		t.Errorf("pushed twice, with other digests, or not three images with an SBOM each and a chart:\n%s\n%s", said[0], said[1])
	}
	checkSignatures(t, key, pushed)
	for image, program := range map[string]string{"operator": "manager", "worker": "loadworker", "kubectl-loadtest": "kubectl-loadtest"} {
		r.checkPlatforms(t, "example/"+image, program)
		r.checkSBOM(t, "example/"+image)
	}
	pulled := t.TempDir()
	cluster.MustCommand(t, "helm", "pull", "oci://"+home+"/charts/loadtest-operator", "--version", pushedVersion, "--plain-http", "--untar", "--untardir", pulled)
	chart := filepath.Join(pulled, "loadtest-operator")
	cluster.MustCommand(t, "helm", "lint", "--strict", chart)
	comparePulled(t, chart, pushed)
	return "three images for amd64 and arm64, an SBOM of each and the chart, twice with the same digests; cosign verifies all 7 and refuses another key"
}

// newCosignKey makes a pair of keys, NAME.key and NAME.pub, and returns their path up to the dot.
func newCosignKey(t *testing.T, name string) string {
	t.Helper()
	t.Setenv("COSIGN_PASSWORD", "of the test")
	path := filepath.Join(t.TempDir(), name)
	build := exec.CommandContext(t.Context(), "make", "bin/cosign")
	build.Dir = "../../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("make bin/cosign: %v\n%s", err, out)
	}
	cluster.MustCommand(t, "cosign", "generate-key-pair", "--output-key-prefix", path)
	return path
}

// checkSignatures has cosign verify all that was pushed, as docs/security/releases.md says, and
// once more by a key that did not sign it.
func checkSignatures(t *testing.T, key string, pushed []string) {
	t.Helper()
	other := newCosignKey(t, "other")
	for _, reference := range pushed {
		args := []string{"verify", "--insecure-ignore-tlog=true", "--allow-http-registry", reference, "--key"}
		cluster.MustCommand(t, "cosign", append(args, key+".pub")...)
		out, err := cluster.Command(t.Context(), "cosign", append(args, other+".pub")...)
		if err == nil || !strings.Contains(err.Error()+out, "no matching signatures") {
			t.Errorf("with another key, cosign says of %s: %v, %s", reference, err, out)
		}
	}
}

// checkSBOM looks for the Go modules in the SBOM that refers to an image, for each platform.
func (r registry) checkSBOM(t *testing.T, repository string) {
	t.Helper()
	tagged, err := r.read(t.Context(), repository+"/manifests/"+pushedVersion, "application/vnd.oci.image.index.v1+json")
	must.Succeed(t, err)
	var referrers, attached manifest
	digest := fmt.Sprintf("%x", sha256.Sum256(tagged))
	// This registry has no API of referrers: their list has a tag.
	must.Succeed(t, r.get(t.Context(), repository+"/manifests/sha256-"+digest, "application/vnd.oci.image.index.v1+json", &referrers))
	if len(referrers.Manifests) != 1 {
		t.Fatalf("%d refer to %s, want its SBOM", len(referrers.Manifests), repository)
	}
	must.Succeed(t, r.get(t.Context(), repository+"/manifests/"+referrers.Manifests[0].Digest, "application/vnd.oci.image.manifest.v1+json", &attached))
	if len(attached.Layers) != 2 {
		t.Errorf("the SBOM of %s has %d documents, want one for each platform", repository, len(attached.Layers))
	}
	for _, layer := range attached.Layers {
		var document struct{ Packages []struct{ Name string } }
		must.Succeed(t, r.get(t.Context(), repository+"/blobs/"+layer.Digest, "", &document))
		var names []string
		for _, p := range document.Packages {
			names = append(names, p.Name)
		}
		if !slices.Contains(names, "stdlib") || !slices.Contains(names, "google.golang.org/grpc") {
			t.Errorf("the SBOM of %s has no Go modules: %q", repository, names)
		}
	}
}

// checkPlatforms looks at the program in the image of each platform.
func (r registry) checkPlatforms(t *testing.T, repository, program string) {
	t.Helper()
	var index manifest
	must.Succeed(t, r.get(t.Context(), repository+"/manifests/"+pushedVersion, "application/vnd.oci.image.index.v1+json", &index))
	machines := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}
	if len(index.Manifests) != len(machines) || index.Annotations["org.opencontainers.image.version"] != pushedVersion {
		t.Errorf("%s has %d images, and says %v", repository, len(index.Manifests), index.Annotations)
	}
	for _, listed := range index.Manifests {
		var image manifest
		var config struct {
			OS, Architecture string
			Config           struct {
				User       string
				Entrypoint []string
			}
		}
		err := r.get(t.Context(), repository+"/manifests/"+listed.Digest, "application/vnd.oci.image.manifest.v1+json", &image)
		if err == nil {
			err = r.get(t.Context(), repository+"/blobs/"+image.Config.Digest, "", &config)
		}
		must.Succeed(t, err)
		binary := r.file(t, repository, image.Layers[0].Digest, program)
		parsed, err := elf.NewFile(bytes.NewReader(binary))
		must.Succeed(t, err)
		architecture := listed.Platform.Architecture
		if parsed.Machine != machines[architecture] || config.Architecture != architecture || config.OS != "linux" ||
			config.Config.User != "65532:65532" || strings.Join(config.Config.Entrypoint, " ") != "/"+program {
			t.Errorf("%s for %s: the program is for %s, the configuration %+v", repository, architecture, parsed.Machine, config)
		}
	}
}

// file reads one of a layer.
func (r registry) file(t *testing.T, repository, layer, name string) []byte {
	t.Helper()
	packed, err := r.read(t.Context(), repository+"/blobs/"+layer, "")
	must.Succeed(t, err)
	plain, err := gzip.NewReader(bytes.NewReader(packed))
	must.Succeed(t, err)
	archive := tar.NewReader(plain)
	for {
		header, err := archive.Next()
		if err != nil {
			t.Fatalf("no file %s in %s: %v", name, repository, err)
		}
		if header.Name != name {
			continue
		}
		content, err := io.ReadAll(archive)
		must.Succeed(t, err)
		return content
	}
}

// comparePulled checks that the chart installs the pushed images, and otherwise what the folder
// installs.
func comparePulled(t *testing.T, chart string, pushed []string) {
	t.Helper()
	render := func(chart string) string {
		return cluster.MustCommand(t, "helm", "template", "loadtest-operator", chart, "--include-crds", "--namespace", cluster.OperatorNamespace, "--kube-version", "1.36")
	}
	got := render(chart)
	want := render(operatorChart)
	for _, image := range []string{"operator", "worker"} {
		at := slices.IndexFunc(pushed, func(reference string) bool { return strings.Contains(reference, "/"+image+":"+pushedVersion+"@") })
		if at < 0 || !strings.Contains(got, pushed[at]) {
			t.Fatalf("the chart from the registry does not install the %s by its digest: %q", image, pushed)
		}
		want = strings.ReplaceAll(want, "loadtest-dev/loadtest-"+image+":0.1.0", pushed[at])
	}
	want = strings.NewReplacer("loadtest-operator-0.1.0", "loadtest-operator-"+pushedVersion, `version: "0.1.0"`, `version: "`+pushedVersion+`"`).Replace(want)
	if got != want {
		t.Error("the chart from the registry does not install what the folder does")
	}
}
