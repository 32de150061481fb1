package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/links"
)

const (
	// linksVariable is what --links is by default, where it is set.
	linksVariable = "LOADTEST_LINKS"
	// ofConfigMap begins the name of a ConfigMap, and usualLinks is the one that the chart writes.
	ofConfigMap = "configmap:"
	usualLinks  = "configmap:loadtest-system/loadtest-operator-links"
	// mostLinks bounds a file, and longestLinks how long the API server is waited for: what it is
	// read for is of use without links.
	mostLinks    = 1 << 20
	longestLinks = 5 * time.Second
)

// linkOptions say where templates of links are.
type linkOptions struct{ from string }

func (o *linkOptions) bind(flags *pflag.FlagSet) {
	flags.StringVar(&o.from, "links", "", "File with templates of links to dashboards and traces, or configmap:NAMESPACE/NAME, or none. Default: $"+linksVariable+", or in a cluster "+usualLinks)
}

// noLinks is a --links that reads nothing.
const noLinks = "none"

// templates reads the templates of links. nil: there are none. The cluster may be nil: then what is
// there is not asked for. What the administrator wrote and is wrong is said, and no reason to fail.
func (c *config) templates(ctx context.Context, o *linkOptions, cluster *cluster) (*links.Templates, error) {
	from, given := o.from, true
	if from == "" {
		from = os.Getenv(linksVariable)
	}
	if from == "" && cluster != nil {
		from, given = usualLinks, false
	}
	if from == "" || from == noLinks {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, longestLinks)
	defer cancel()
	document, err := c.linksFrom(ctx, from, cluster)
	if err == nil {
		var t *links.Templates
		if t, err = links.Parse(document); err == nil {
			return t, nil
		}
	}
	err = fmt.Errorf("--links %s: %w", from, err)
	switch {
	case given:
		return nil, err
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		return nil, nil // not every cluster has some
	}
	c.warn("No links: " + err.Error())
	return nil, nil
}

// linksFrom reads a file or a ConfigMap.
func (c *config) linksFrom(ctx context.Context, from string, cluster *cluster) ([]byte, error) {
	name, ok := strings.CutPrefix(from, ofConfigMap)
	if !ok {
		f, err := os.Open(from)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }() // it was read
		return io.ReadAll(io.LimitReader(f, mostLinks))
	}
	namespace, name, ok := strings.Cut(name, "/")
	if !ok || namespace == "" || name == "" {
		return nil, errors.New("must be configmap:NAMESPACE/NAME")
	}
	if cluster == nil {
		return nil, errors.New("is in a cluster, which this command does not ask: give a file")
	}
	object := &corev1.ConfigMap{}
	if err := cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object); err != nil {
		return nil, err
	}
	document, ok := object.Data[links.Key]
	if !ok {
		return nil, fmt.Errorf("has no key %s", links.Key)
	}
	return []byte(document), nil
}
