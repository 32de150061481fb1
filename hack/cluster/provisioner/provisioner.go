package provisioner

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// Provisioner serves the claims of one cluster.
type Provisioner struct {
	// Server is the URL of the API server.
	Server string
	// TLS says who the provisioner is, and who the server has to be.
	TLS *tls.Config
	// Folder is where the volumes' folders are.
	Folder string
	// Say gets what was done and what went wrong, in whole lines.
	Say func(format string, args ...any)
}

// retry is the pause after a failure, which does not go away by itself sooner.
const retry = time.Second

// Run serves until the context ends. It keeps nothing in memory between two
// looks at the cluster, so that what failed is simply done again.
func (p Provisioner) Run(ctx context.Context) {
	transport := &http.Transport{TLSClientConfig: p.TLS, ForceAttemptHTTP2: true, Proxy: nil}
	defer transport.CloseIdleConnections()
	a := api{server: p.Server, client: &http.Client{Transport: transport}}
	for ctx.Err() == nil {
		err := p.pass(ctx, a)
		if err == nil || ctx.Err() != nil {
			continue
		}
		p.Say("%v", err)
		select {
		case <-ctx.Done():
		case <-time.After(retry):
		}
	}
}

// pass looks, does what is to be done, and waits for a change.
func (p Provisioner) pass(ctx context.Context, a api) error {
	claims, err := get[claim](ctx, a, claimsPath)
	if err != nil {
		return err
	}
	volumes, err := get[volume](ctx, a, volumesPath)
	if err != nil {
		return err
	}
	if err := p.apply(ctx, a, decide(claims.Items, volumes.Items, p.Folder)); err != nil {
		return err
	}
	return a.change(ctx, map[string]string{
		claimsPath:  claims.Metadata.ResourceVersion,
		volumesPath: volumes.Metadata.ResourceVersion,
	})
}

// apply does all of it even if some fails: claims have nothing to do with each
// other.
func (p Provisioner) apply(ctx context.Context, a api, d decision) error {
	var failures []error
	for _, reason := range d.refused {
		p.Say("%s", reason)
	}
	for _, v := range d.make {
		failures = append(failures, p.make(ctx, a, v))
	}
	for _, v := range d.remove {
		failures = append(failures, p.remove(ctx, a, v))
	}
	return errors.Join(failures...)
}

// make makes the folder before the volume, which pods can mount at once. Any
// user may write, as with a new disk: a pod without a group for its files has
// no other way.
func (p Provisioner) make(ctx context.Context, a api, v volume) error {
	folder := p.folder(v)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("make volume %s: %w", v.Metadata.Name, err)
	}
	if err := os.Chmod(folder, 0o777); err != nil { // see above
		return fmt.Errorf("make volume %s: %w", v.Metadata.Name, err)
	}
	if err := a.create(ctx, v); err != nil {
		return err
	}
	p.Say("made volume %s for claim %s/%s", v.Metadata.Name, v.Spec.ClaimRef.Namespace, v.Spec.ClaimRef.Name)
	return nil
}

// remove removes the folder first: without its volume nobody would know of it.
func (p Provisioner) remove(ctx context.Context, a api, v volume) error {
	if err := os.RemoveAll(p.folder(v)); err != nil {
		return fmt.Errorf("remove volume %s: %w", v.Metadata.Name, err)
	}
	if err := a.remove(ctx, v); err != nil {
		return err
	}
	p.Say("removed volume %s of claim %s/%s", v.Metadata.Name, v.Spec.ClaimRef.Namespace, v.Spec.ClaimRef.Name)
	return nil
}

// folder is made from the name, and not read from the volume, where anybody
// could have written any path of the host.
func (p Provisioner) folder(v volume) string {
	return filepath.Join(p.Folder, filepath.Base(v.Metadata.Name))
}
