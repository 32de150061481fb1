package resultkeeper

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

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/sink"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
)

// Keeping returns what this process has done so far with the results of a finished run.
func (k *Keeper) Keeping(lt *v1beta1.LoadTest, inForce *policy.Policy) lifecycle.Keeping {
	if k == nil || !lifecycle.Finished(lt) {
		return lifecycle.Keeping{}
	}
	keeping := lifecycle.Keeping{Wanted: inForce.Results()}
	keeping.Archive, keeping.Announce = k.efforts(lt.UID)
	return keeping
}

// Concerns says whether a change of what is done with results may concern a finished run:
// they are to be kept and are not, or an attempt has failed that may no longer be wanted.
func (k *Keeper) Concerns(lt *v1beta1.LoadTest, inForce *policy.Policy) bool {
	if k == nil {
		return false
	}
	c := lt.Status.Conditions
	return inForce.Results().Archived && !meta.IsStatusConditionTrue(c, v1beta1.ConditionArchived) ||
		meta.IsStatusConditionFalse(c, v1beta1.ConditionArchived) || meta.IsStatusConditionFalse(c, v1beta1.ConditionAnnounced)
}

// Keep begins what a decision says is to be done with the results of a finished run.
func (k *Keeper) Keep(ctx context.Context, lt *v1beta1.LoadTest, d lifecycle.Decision, inForce *policy.Policy) {
	if d.Delete || d.Keep == (lifecycle.Keep{}) {
		return
	}
	logger, name := log.FromContext(ctx), client.ObjectKeyFromObject(lt)
	store, key := k.placeOf(lt, inForce)
	if d.Keep.Archive {
		k.begin(lt.UID, name, Archive, archiveWithin, func(ctx context.Context) (string, error) {
			done, err := k.archive(ctx, name, lt.UID, store, key)
			return done, k.tried(Archive, logger, err)
		})
	}
	if d.Keep.Announce {
		hook := sink.Webhook{URL: inForce.Destinations().Webhook.URL, Keys: k.Folders.Keys, Clock: k.Clock}
		message := announcementOf(lt, &d.Status, "")
		if store != nil {
			message = announcementOf(lt, &d.Status, store.Location(key))
		}
		k.begin(lt.UID, name, Announcement, announceWithin, func(ctx context.Context) (string, error) {
			return "The webhook accepted the verdict.", k.tried(Announcement, logger, announce(ctx, hook, message))
		})
	}
}

// tried tells of an attempt, and says in the log why one failed.
func (k *Keeper) tried(kind Kind, logger logr.Logger, err error) error {
	if k.Tried != nil {
		k.Tried(kind, err == nil)
	}
	if err != nil {
		logger.Info("cannot archive or announce a finished run", "of", kind, "why", sink.Explain(err))
	}
	return err
}

// placeOf is where the results of a run are kept; nil: nowhere.
func (k *Keeper) placeOf(lt *v1beta1.LoadTest, inForce *policy.Policy) (store sink.Store, key string) {
	of := path.Join(lt.Namespace, lt.Name, string(lt.UID)+".json.gz")
	where := inForce.Destinations()
	switch {
	case where.Volume != nil:
		return sink.Volume{Folder: k.Folders.Results}, path.Join(where.Volume.Prefix, of)
	case where.ObjectStore != nil:
		s := where.ObjectStore
		return sink.ObjectStore{
			Endpoint: s.Endpoint, Bucket: s.Bucket, Region: cmp.Or(s.Region, defaultRegion), Keys: k.Folders.Keys, Clock: k.Clock,
		}, path.Join(s.Prefix, of)
	}
	return nil, ""
}

// defaultRegion is the one that stores which have none take.
const defaultRegion = "us-east-1"

// archive keeps the results of a run. It reads them past the cache, which has no more than
// that the run has finished.
func (k *Keeper) archive(ctx context.Context, name types.NamespacedName, uid types.UID, to sink.Store, key string) (done string, err error) {
	lt := &v1beta1.LoadTest{}
	if err := k.Reader.Get(ctx, name, lt); err != nil {
		return "", fmt.Errorf("%w: %w", errUnread, err)
	}
	if lt.UID != uid {
		return "", errUnread // another took its place
	}
	content, err := sink.Measure(ctx, k.results(lt))
	if err != nil {
		return "", err
	}
	if err := to.Put(ctx, key, content); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s%d bytes, SHA-256 %s.", keptAs(to.Location(key)), content.Size, content.SHA256), nil
}

// keptAs is how the sentence begins that says where results are.
func keptAs(location string) string { return fmt.Sprintf("The results are archived as %s, ", location) }

// announce sends an announcement.
func announce(ctx context.Context, to sink.Webhook, a announcement) error {
	message, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return to.Send(ctx, string(a.UID), message)
}
