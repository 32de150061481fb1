//go:build e2e

package ecosystem

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
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
	var said [2]string
	for i := range said {
		out, err := makePush(t.Context(), home, pushedVersion)
		must.Succeed(t, err)
		said[i] = out
	}
	if said[0] != said[1] || strings.Count(said[0], "@sha256:") != 4 {
		t.Errorf("pushed twice, with other digests, or not three images and a chart:\n%s\n%s", said[0], said[1])
	}
	for image, program := range map[string]string{"operator": "manager", "worker": "loadworker", "kubectl-loadtest": "kubectl-loadtest"} {
		r.checkPlatforms(t, "example/"+image, program)
	}
	pulled := t.TempDir()
	cluster.MustCommand(t, "helm", "pull", "oci://"+home+"/charts/loadtest-operator", "--version", pushedVersion, "--plain-http", "--untar", "--untardir", pulled)
	chart := filepath.Join(pulled, "loadtest-operator")
	cluster.MustCommand(t, "helm", "lint", "--strict", chart)
	comparePulled(t, chart, home)
	return "three images for amd64 and arm64 and the chart, twice with the same digests"
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
func comparePulled(t *testing.T, chart, home string) {
	t.Helper()
	render := func(chart string, args ...string) string {
		return cluster.MustCommand(t, "helm", append([]string{"template", "loadtest-operator", chart, "--include-crds", "--namespace", cluster.OperatorNamespace, "--kube-version", "1.36"}, args...)...)
	}
	got := render(chart)
	want := render(operatorChart, "--set", "image.repository="+home+"/operator,workerImage.repository="+home+"/worker,image.tag="+pushedVersion+",workerImage.tag="+pushedVersion)
	want = strings.NewReplacer("loadtest-operator-0.1.0", "loadtest-operator-"+pushedVersion, `version: "0.1.0"`, `version: "`+pushedVersion+`"`).Replace(want)
	if got != want {
		t.Error("the chart from the registry does not install what the folder does")
	}
	for _, image := range []string{"operator", "worker"} {
		if !strings.Contains(got, home+"/"+image+":"+pushedVersion) {
			t.Errorf("it does not install %s", image)
		}
	}
}
