package loadtest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/sink"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// Folders are those of the operator's pod.
type Folders struct {
	// Keys has the keys of the object store and of the webhook, Results is the volume.
	Keys, Results string
}

// keeping is how far this process is with the results of a finished run.
func (r *Reconciler) keeping(lt *v1alpha1.LoadTest, inForce *policy.Policy) lifecycle.Keeping {
	if r.Keeper == nil || !lifecycle.Finished(lt) {
		return lifecycle.Keeping{}
	}
	k := lifecycle.Keeping{Wanted: inForce.Results()}
	k.Archive, k.Announce = r.Keeper.efforts(lt.UID)
	return k
}

// concerns says whether a change of what is done with results may concern a finished run:
// they are to be kept and are not, or an attempt has failed that may no longer be wanted.
func (r *Reconciler) concerns(lt *v1alpha1.LoadTest) bool {
	if r.Keeper == nil {
		return false
	}
	c := lt.Status.Conditions
	return r.Policy().Results().Archived && !meta.IsStatusConditionTrue(c, v1alpha1.ConditionArchived) ||
		meta.IsStatusConditionFalse(c, v1alpha1.ConditionArchived) || meta.IsStatusConditionFalse(c, v1alpha1.ConditionAnnounced)
}

// keep begins what is to be done with the results of a finished run.
func (r *Reconciler) keep(ctx context.Context, lt *v1alpha1.LoadTest, d lifecycle.Decision, inForce *policy.Policy) {
	if d.Delete || d.Keep == (lifecycle.Keep{}) {
		return
	}
	logger, name := log.FromContext(ctx), client.ObjectKeyFromObject(lt)
	store, key := r.placeOf(lt, inForce)
	if d.Keep.Archive {
		r.Keeper.begin(lt.UID, name, keepArchive, archiveWithin, func(ctx context.Context) (string, error) {
			done, err := r.archive(ctx, name, lt.UID, store, key)
			return done, r.tried(keptArchive, logger, err)
		})
	}
	if d.Keep.Announce {
		hook := sink.Webhook{URL: inForce.Destinations().Webhook.URL, Keys: r.Folders.Keys, Clock: r.Clock}
		message := announcementOf(lt, &d.Status, "")
		if store != nil {
			message = announcementOf(lt, &d.Status, store.Location(key))
		}
		r.Keeper.begin(lt.UID, name, keepAnnouncement, announceWithin, func(ctx context.Context) (string, error) {
			return "The webhook has taken the verdict.", r.tried(keptAnnouncement, logger, announce(ctx, hook, message))
		})
	}
}

// tried counts an attempt, and says in the log why one failed.
func (r *Reconciler) tried(of kept, logger logr.Logger, err error) error {
	r.Metrics.tried(of, err == nil)
	if err != nil {
		logger.Info("cannot keep what a finished run came to", "of", of, "why", sink.Explain(err))
	}
	return err
}

// placeOf is where the results of a run are kept; nil: nowhere.
func (r *Reconciler) placeOf(lt *v1alpha1.LoadTest, inForce *policy.Policy) (store sink.Store, key string) {
	of := path.Join(lt.Namespace, lt.Name, string(lt.UID)+".json.gz")
	where := inForce.Destinations()
	switch {
	case where.Volume != nil:
		return sink.Volume{Folder: r.Folders.Results}, path.Join(where.Volume.Prefix, of)
	case where.ObjectStore != nil:
		s := where.ObjectStore
		return sink.ObjectStore{
			Endpoint: s.Endpoint, Bucket: s.Bucket, Region: cmp.Or(s.Region, defaultRegion), Keys: r.Folders.Keys, Clock: r.Clock,
		}, path.Join(s.Prefix, of)
	}
	return nil, ""
}

// defaultRegion is the one that stores which have none take.
const defaultRegion = "us-east-1"

// archive keeps the results of a run. It reads them past the cache, which has no more than
// that the run has finished.
func (r *Reconciler) archive(ctx context.Context, name types.NamespacedName, uid types.UID, to sink.Store, key string) (done string, err error) {
	lt := &v1alpha1.LoadTest{}
	if err := r.Uncached.Get(ctx, name, lt); err != nil {
		return "", fmt.Errorf("%w: %w", errUnread, err)
	}
	if lt.UID != uid {
		return "", errUnread // another took its place
	}
	content, err := sink.Measure(ctx, r.results(lt))
	if err != nil {
		return "", err
	}
	if err := to.Put(ctx, key, content); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s%d bytes, SHA-256 %s.", keptAs(to.Location(key)), content.Size, content.SHA256), nil
}

// keptAs is how the sentence begins that says where results are.
func keptAs(location string) string { return fmt.Sprintf("The results are kept as %s, ", location) }

// announce sends an announcement.
func announce(ctx context.Context, to sink.Webhook, a announcement) error {
	message, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return to.Send(ctx, string(a.UID), message)
}
