package release

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Release is a version, and where it goes.
type Release struct {
	// Registry is a host and a path, such as ghcr.io/example. Images are its children,
	// and the chart is one of charts below it.
	Registry string
	// Version is a semantic one, and the tag of everything.
	Version string
	// Source is the address of the repository, Revision the commit.
	Source, Revision string
	// Created is the commit's time.
	Created time.Time
}

// version is a semantic version without a build, whose plus sign no tag may have.
var version = regexp.MustCompile(`^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z]+([.-][0-9A-Za-z]+)*)?$`)

// Validate says what is wrong with where it goes and with its version.
func (r Release) Validate() error {
	host, path, found := strings.Cut(r.Registry, "/")
	switch {
	case r.Registry == "":
		return errors.New("--registry is required: give a host and a path, such as ghcr.io/example")
	case !found || path == "" || !strings.ContainsAny(host, ".:") || strings.Contains(r.Registry, "//"):
		return fmt.Errorf("--registry %q: must be a host and a path, such as ghcr.io/example", r.Registry)
	case !version.MatchString(r.Version):
		return fmt.Errorf("--version %q: must be a semantic version such as 1.2.3 or 1.2.3-rc.1, without a v or a +", r.Version)
	}
	_, err := r.tag("operator")
	return err
}

// tag is the reference of a part of the release.
func (r Release) tag(part string) (name.Tag, error) {
	tag, err := name.NewTag(r.Registry+"/"+part+":"+r.Version, name.StrictValidation)
	if err != nil {
		return name.Tag{}, fmt.Errorf("--registry %q: %w", r.Registry, err)
	}
	return tag, nil
}

// Pushed is a part of the release in its registry.
type Pushed struct {
	repository name.Repository
	tag        string // empty for what has none
	digest     v1.Hash
}

// String is the reference by tag and digest.
func (p Pushed) String() string {
	if p.tag == "" {
		return p.repository.Digest(p.digest.String()).String()
	}
	return p.repository.Tag(p.tag).String() + "@" + p.digest.String()
}

// annotations are what registries and people read of a part.
func (r Release) annotations(title, description string) map[string]string {
	const image = "org.opencontainers.image."
	return map[string]string{
		image + "title":       title,
		image + "description": description,
		image + "version":     r.Version,
		image + "source":      r.Source,
		image + "url":         r.Source,
		image + "revision":    r.Revision,
		image + "created":     r.Created.UTC().Format(time.RFC3339),
		image + "licenses":    "Apache-2.0",
	}
}

// options are those of every request. Credentials are those of docker login and helm
// registry login.
func options(ctx context.Context) []remote.Option {
	return []remote.Option{
		remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain),
		remote.WithTransport(onlyTLS{remote.DefaultTransport}),
	}
}

// onlyTLS refuses plain HTTP to other machines: the client falls back to it for private
// addresses, and would show them the password.
type onlyTLS struct{ http.RoundTripper }

func (o onlyTLS) RoundTrip(request *http.Request) (*http.Response, error) {
	if host := request.URL.Hostname(); request.URL.Scheme != "https" && host != "localhost" {
		if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
			return nil, fmt.Errorf("registry %s is not asked over plain HTTP: it is not on this machine", request.URL.Host)
		}
	}
	return o.RoundTripper.RoundTrip(request)
}
