package provisioner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/kubernetes/controller"
)

// Provisioner serves the claims of one cluster.
type Provisioner struct {
	Client kubernetes.Interface
	// Name is what storage classes call the provisioner.
	Name string
	// Folder has the volumes' folders.
	Folder string
	// Logf gets what was done and what failed.
	Logf func(format string, args ...any)
}

// NewCommand is the program.
func NewCommand() *cobra.Command {
	p := &Provisioner{Logf: klog.Infof}
	command := controller.NewCommand("provisioner", "Make a folder of the host for each claim.",
		func(ctx context.Context, client kubernetes.Interface) error {
			p.Client = client
			return p.Run(ctx)
		})
	controller.RequiredFlag(command, &p.Name, "name", "`name` of the provisioner in storage classes")
	controller.RequiredFlag(command, &p.Folder, "folder", "`folder` of the volumes")
	return command
}

// Run serves until the context ends.
func (p Provisioner) Run(ctx context.Context) error {
	factory := informers.NewSharedInformerFactory(p.Client, 0)
	claims, volumes := factory.Core().V1().PersistentVolumeClaims(), factory.Core().V1().PersistentVolumes()
	c := controller.Controller{Factory: factory, Logf: p.Logf, Reconcile: func(ctx context.Context) error {
		allClaims, err := claims.Lister().List(labels.Everything())
		if err != nil {
			return err
		}
		allVolumes, err := volumes.Lister().List(labels.Everything())
		if err != nil {
			return err
		}
		return p.apply(ctx, p.decide(allClaims, allVolumes))
	}}
	return c.Run(ctx, claims.Informer(), volumes.Informer())
}

// apply does all of it even if some fails: claims are independent of each other.
func (p Provisioner) apply(ctx context.Context, d decision) error {
	var failures []error
	for _, reason := range d.refused {
		p.Logf("%s", reason)
	}
	for _, v := range d.make {
		failures = append(failures, p.make(ctx, v))
	}
	for _, v := range d.remove {
		failures = append(failures, p.remove(ctx, v))
	}
	return errors.Join(failures...)
}

// make makes the folder before the volume, because pods can mount the volume at
// once. Any user may write, as to a new disk: a pod without a group for its
// files could not write otherwise.
func (p Provisioner) make(ctx context.Context, v *corev1.PersistentVolume) error {
	claim, err := p.Client.CoreV1().PersistentVolumeClaims(v.Spec.ClaimRef.Namespace).Get(ctx, v.Spec.ClaimRef.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err) || err == nil && claim.UID != v.Spec.ClaimRef.UID: // and still in the cache
		return nil
	case err != nil:
		return fmt.Errorf("make volume %s: %w", v.Name, err)
	}
	folder := p.folder(v)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("make volume %s: %w", v.Name, err)
	}
	if err := os.Chmod(folder, 0o777); err != nil { // MkdirAll applies the umask
		return fmt.Errorf("make volume %s: %w", v.Name, err)
	}
	_, err = p.Client.CoreV1().PersistentVolumes().Create(ctx, v, metav1.CreateOptions{})
	switch {
	case apierrors.IsAlreadyExists(err): // and not in the cache yet
		return nil
	case err != nil:
		return fmt.Errorf("make volume %s: %w", v.Name, err)
	}
	p.Logf("made volume %s for claim %s/%s", v.Name, v.Spec.ClaimRef.Namespace, v.Spec.ClaimRef.Name)
	return nil
}

// remove removes the folder before the volume, which is the only record of it.
func (p Provisioner) remove(ctx context.Context, v *corev1.PersistentVolume) error {
	if err := os.RemoveAll(p.folder(v)); err != nil {
		return fmt.Errorf("remove volume %s: %w", v.Name, err)
	}
	err := p.Client.CoreV1().PersistentVolumes().Delete(ctx, v.Name, metav1.DeleteOptions{})
	switch {
	case apierrors.IsNotFound(err): // and still in the cache
		return nil
	case err != nil:
		return fmt.Errorf("remove volume %s: %w", v.Name, err)
	}
	p.Logf("removed volume %s of claim %s/%s", v.Name, v.Spec.ClaimRef.Namespace, v.Spec.ClaimRef.Name)
	return nil
}

// folder is derived from the name. The path in the volume could have been
// changed to any path of the host.
func (p Provisioner) folder(v *corev1.PersistentVolume) string {
	return filepath.Join(p.Folder, filepath.Base(v.Name))
}
