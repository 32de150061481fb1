package replica

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
)

// older says what to do about definitions that lack fields.
func older(lacking []string) error {
	more := ""
	if n := len(lacking) - 1; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Errorf("the CustomResourceDefinitions are older than this operator: they lack %s%s, which the API server would not store; apply the ones of its chart: "+
		"helm show crds CHART | kubectl apply --server-side --force-conflicts --filename -", lacking[0], more)
}

// AwaitSchemas waits until the API server serves all fields that this operator needs, which
// Helm does not see to: it never upgrades a CustomResourceDefinition. A rollout stops here,
// before it ends a replica of the version that the definitions are for. Its only error is
// that ctx has ended.
func (r *Replica) AwaitSchemas(ctx context.Context, config *rest.Config) error {
	api, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("create client: %w", err)
	}
	log := ctrl.Log.WithName("replica")
	for said := ""; ; {
		err := attempt(ctx, func(ctx context.Context) error {
			lacking, err := Lacking(ctx, api.RESTClient())
			if err == nil && len(lacking) > 0 {
				err = older(lacking)
			}
			return err
		})
		switch {
		case err == nil || ctx.Err() != nil:
			return ctx.Err()
		case apierrors.IsForbidden(err):
			log.Info("CustomResourceDefinitions are not checked: this cluster does not let everyone read what it serves", "reason", err.Error())
			return nil
		case err.Error() != said:
			said = err.Error()
			r.setUnready(said)
			log.Error(err, "cannot begin")
		}
		Pause(ctx, retryEvery)
	}
}
