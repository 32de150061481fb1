package simulated

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Allow configures the operator, before it starts, so that this many LoadTests of a
// namespace run at once.
func Allow(ctx context.Context, c client.Client, runs int) error {
	cm := &corev1.ConfigMap{Data: map[string]string{"config.yaml": fmt.Sprintf("limits: {runs: %d, namespaces: [{runs: %d}]}\n", runs, runs)}}
	cm.Namespace, cm.Name = OperatorNamespace, "loadtest-operator-config"
	if err := c.Create(ctx, cm); err != nil {
		return fmt.Errorf("configure the operator: %w", err)
	}
	return nil
}
