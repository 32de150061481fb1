package provisioner

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/collection"
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

// The two collections of the API that matter here.
const (
	claimsPath  = "/api/v1/persistentvolumeclaims"
	volumesPath = "/api/v1/persistentvolumes"
)

// Run serves until the context ends.
func (p Provisioner) Run(ctx context.Context) {
	c := collection.NewClient(p.Server, p.TLS)
	defer c.HTTP.CloseIdleConnections()
	collection.Repeat(ctx, func(ctx context.Context) error { return p.pass(ctx, c) }, p.Say)
}

// pass looks, does what is to be done, and waits for a change.
func (p Provisioner) pass(ctx context.Context, c collection.Client) error {
	claims, err := collection.Get[claim](ctx, c, claimsPath)
	if err != nil {
		return err
	}
	volumes, err := collection.Get[volume](ctx, c, volumesPath)
	if err != nil {
		return err
	}
	if err := p.apply(ctx, c, decide(claims.Items, volumes.Items, p.Folder)); err != nil {
		return err
	}
	return c.Change(ctx, map[string]string{
		claimsPath:  claims.Version(),
		volumesPath: volumes.Version(),
	})
}

// apply does all of it even if some fails: claims have nothing to do with each
// other.
func (p Provisioner) apply(ctx context.Context, c collection.Client, d decision) error {
	var failures []error
	for _, reason := range d.refused {
		p.Say("%s", reason)
	}
	for _, v := range d.make {
		failures = append(failures, p.make(ctx, c, v))
	}
	for _, v := range d.remove {
		failures = append(failures, p.remove(ctx, c, v))
	}
	return errors.Join(failures...)
}

// make makes the folder before the volume, which pods can mount at once. Any
// user may write, as with a new disk: a pod without a group for its files has
// no other way.
func (p Provisioner) make(ctx context.Context, c collection.Client, v volume) error {
	folder := p.folder(v)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("make volume %s: %w", v.Metadata.Name, err)
	}
	if err := os.Chmod(folder, 0o777); err != nil { // see above
		return fmt.Errorf("make volume %s: %w", v.Metadata.Name, err)
	}
	if err := c.Create(ctx, volumesPath, v); err != nil {
		return err
	}
	p.Say("made volume %s for claim %s/%s", v.Metadata.Name, v.Spec.ClaimRef.Namespace, v.Spec.ClaimRef.Name)
	return nil
}

// remove removes the folder first: without its volume nobody would know of it.
func (p Provisioner) remove(ctx context.Context, c collection.Client, v volume) error {
	if err := os.RemoveAll(p.folder(v)); err != nil {
		return fmt.Errorf("remove volume %s: %w", v.Metadata.Name, err)
	}
	if err := c.Remove(ctx, volumesPath, v.Metadata.Name); err != nil {
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
