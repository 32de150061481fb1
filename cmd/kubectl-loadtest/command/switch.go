package command

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	conflicts "k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	configv1 "github.com/loadtest-dev/loadtest-operator/api/config/v1alpha1"
)

// switchOptions are where the operator's switch is, and of what it is about.
type switchOptions struct {
	namespace, configMap string
	all                  bool
}

func (o *switchOptions) bind(flags *pflag.FlagSet) {
	flags.StringVar(&o.namespace, "operator-namespace", "loadtest-system", "Namespace of the operator")
	flags.StringVar(&o.configMap, "config-map", "loadtest-operator-config", "ConfigMap with the operator's configuration: <release>-config of a release with another name")
	flags.BoolVar(&o.all, "all", false, "All LoadTests: in every namespace, or with --namespace in that one")
}

// administration is the operator's ConfigMap, as it was read.
type administration struct {
	object corev1.ConfigMap
	config configv1.OperatorConfiguration
	stops  configv1.Switch
}

// administration reads the ConfigMap. The error is forbidden, if that is so.
func (c *cluster) administration(ctx context.Context, o *switchOptions) (*administration, error) {
	a := &administration{}
	key := client.ObjectKey{Namespace: o.namespace, Name: o.configMap}
	err := c.Get(ctx, key, &a.object)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("ConfigMap %s does not exist: say with --operator-namespace and --config-map where the operator reads its configuration", key)
	}
	if err != nil {
		return nil, err
	}
	if err := yaml.Unmarshal([]byte(a.object.Data[configv1.SwitchKey]), &a.stops); err != nil {
		return nil, fmt.Errorf("key %s of ConfigMap %s is not a valid switch: correct it with kubectl edit: %w", configv1.SwitchKey, key, err)
	}
	_ = yaml.Unmarshal([]byte(a.object.Data[configv1.ConfigKey]), &a.config) // the operator says what is wrong
	return a, nil
}

// turn changes the switch: what another changes at the same time stays.
func (c *cluster) turn(ctx context.Context, o *switchOptions, change func([]configv1.Stop) []configv1.Stop) (*administration, error) {
	var a *administration
	err := conflicts.RetryOnConflict(conflicts.DefaultBackoff, func() error {
		var err error
		if a, err = c.administration(ctx, o); err != nil {
			return err
		}
		a.stops.APIVersion, a.stops.Kind = configv1.APIVersion, configv1.SwitchKind
		a.stops.Stops = change(a.stops.Stops)
		document, err := yaml.Marshal(a.stops)
		if err != nil {
			return err
		}
		patch, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"resourceVersion": a.object.ResourceVersion},
			"data":     map[string]string{configv1.SwitchKey: string(document)},
		})
		if err != nil {
			return err
		}
		return c.Patch(ctx, &a.object, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(fieldManager))
	})
	return a, err
}

// user is the name that the user has at the API server.
func (c *cluster) user(ctx context.Context) string {
	review := &authenticationv1.SelfSubjectReview{}
	if err := c.Create(ctx, review); err != nil || review.Status.UserInfo.Username == "" {
		return "a user whose name the API server does not give"
	}
	return review.Status.UserInfo.Username
}

// scope is what a command with --all is about: the namespaces of a stop.
func (c *cluster) scope() []string {
	if c.explicit {
		return []string{c.namespace}
	}
	return nil
}

// without drops the stops of a scope: of all namespaces, all of them.
func without(stops []configv1.Stop, scope []string) []configv1.Stop {
	if len(scope) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(stops), func(s configv1.Stop) bool { return slices.Equal(s.Namespaces, scope) })
}

// inForce are all stops, in words.
func (a *administration) inForce() []string {
	var list []string
	if s := a.config.Stop; s != nil {
		list = append(list, describe(s, configv1.ConfigKey))
	}
	for i := range a.stops.Stops {
		list = append(list, describe(&a.stops.Stops[i], configv1.SwitchKey))
	}
	return list
}

func describe(s *configv1.Stop, key string) string {
	what := "every namespace"
	if len(s.Namespaces) > 0 {
		what = "namespace " + strings.Join(s.Namespaces, ", ")
	}
	what += ": stopped"
	if s.By != "" {
		what += " by " + s.By
	}
	if s.Since != nil {
		what += " since " + s.Since.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	if s.Reason != "" {
		what += ": " + s.Reason
	}
	return what + " (" + key + ")"
}
