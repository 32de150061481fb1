package provisioner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

// run runs a provisioner until the test ends. It returns the folder of the
// volumes and a function that returns the next lines of the log, in order.
func run(t *testing.T, client *fake.Clientset) (folder string, next func(n int) []string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "volumes")
	lines := make(chan string, 16)
	p := Provisioner{Client: client, Name: provisioner.Name, Folder: folder, Logf: func(format string, args ...any) {
		lines <- fmt.Sprintf(format, args...)
	}}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := p.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { stop(); running.Wait() })
	return folder, func(n int) (got []string) {
		t.Helper()
		for len(got) < n {
			select {
			case line := <-lines:
				got = append(got, line)
			case <-time.After(time.Minute):
				t.Fatalf("only %q is logged within a minute", got)
			}
		}
		slices.Sort(got)
		return got
	}
}

func TestVolumeIsMadeForAClaimAndRemovedAfterIt(t *testing.T) {
	client, ctx := fake.NewClientset(), t.Context()
	claims, volumes := client.CoreV1().PersistentVolumeClaims("shop"), client.CoreV1().PersistentVolumes()
	folder, next := run(t, client)
	if _, err := claims.Create(ctx, claimOf("1"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"made volume pvc-1 for claim shop/data-1"}, next(1)); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	path := filepath.Join(folder, "pvc-1")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o777 {
		t.Fatalf("the volume's folder: %v, %v, want one to which every user may write", info, err)
	}
	v, err := volumes.Get(ctx, "pvc-1", metav1.GetOptions{})
	if err != nil || v.Spec.Local.Path != path {
		t.Fatalf("the volume is %+v, %v, want it at %s", v, err, path)
	}
	if err := os.WriteFile(filepath.Join(path, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}

	if err := claims.Delete(ctx, "data-1", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	v.Status.Phase = corev1.VolumeReleased
	if _, err := volumes.UpdateStatus(ctx, v, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"removed volume pvc-1 of claim shop/data-1"}, next(1)); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the volume's folder still exists (%v)", err)
	}
	if _, err := volumes.Get(ctx, "pvc-1", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the volume still exists (%v)", err)
	}
}

// The cache is older than the last call when Reconcile is called again soon.
func TestRepeatedCallsAreNoFailure(t *testing.T) {
	client := fake.NewClientset(volumeOf("1", corev1.VolumeBound), claimOf("1"))
	p := Provisioner{Client: client, Name: provisioner.Name, Folder: t.TempDir(), Logf: t.Logf}
	if err := p.make(t.Context(), volumeOf("1", "")); err != nil {
		t.Errorf("make of a volume that exists: %v", err)
	}
	if err := p.remove(t.Context(), volumeOf("2", corev1.VolumeReleased)); err != nil {
		t.Errorf("remove of a volume that is gone: %v", err)
	}
}

func TestNoVolumeIsMadeForAClaimThatIsGone(t *testing.T) {
	for name, client := range map[string]*fake.Clientset{
		"deleted":           fake.NewClientset(),
		"another of a name": fake.NewClientset(claimOf("2", func(c *corev1.PersistentVolumeClaim) { c.Name = claimOf("1").Name })),
	} {
		p := Provisioner{Client: client, Name: provisioner.Name, Folder: t.TempDir(), Logf: t.Logf}
		if err := p.make(t.Context(), volumeOf("1", "")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := client.CoreV1().PersistentVolumes().Get(t.Context(), "pvc-1", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("%s: a volume was made (%v)", name, err)
		}
	}
}

func TestVolumeCannotRemoveAFolderOfTheHost(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "host")
	if err := os.Mkdir(outside, 0o700); err != nil {
		t.Fatal(err)
	}
	folder, next := run(t, fake.NewClientset(volumeOf("1", corev1.VolumeReleased, func(v *corev1.PersistentVolume) {
		v.Name = "host"
		v.Spec.Local.Path = outside
	})))
	next(1)
	if _, err := os.Stat(outside); err != nil {
		t.Errorf("a folder outside %s was removed: %v", folder, err)
	}
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "../../etc"}}
	if got := (Provisioner{Folder: folder}).folder(v); got != filepath.Join(folder, "etc") {
		t.Errorf("folder = %s, want it in %s", got, folder)
	}
}
