package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// listSchedules writes the schedules below the LoadTests. They are left out where they may
// not be listed, or their CRD is not there: they were not asked for.
func (c *config) listSchedules(ctx context.Context, cluster *cluster, o *listOptions, below bool) error {
	matching, err := labels.Parse(o.selector)
	if err != nil {
		return err
	}
	var list v1beta1.LoadTestScheduleList
	err = cluster.List(ctx, &list, client.InNamespace(cluster.namespace), client.MatchingLabelsSelector{Selector: matching})
	switch {
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return nil
	case err != nil:
		return fmt.Errorf("list LoadTestSchedules: %w", err)
	case len(list.Items) == 0:
		return nil
	}
	if below {
		_, _ = fmt.Fprintln(c.streams.Out)
	}
	if err := writeSchedules(c.streams.Out, list.Items, o, time.Now()); err != nil {
		return fmt.Errorf("write the list: %w", err)
	}
	return nil
}

// writeSchedules writes a table, in which those that cannot start LoadTests come first.
func writeSchedules(w io.Writer, items []v1beta1.LoadTestSchedule, o *listOptions, now time.Time) error {
	slices.SortStableFunc(items, func(a, b v1beta1.LoadTestSchedule) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	heads := []string{"SCHEDULE", "STARTS BY", "LAST RUN", "VERDICT", "TREND", "NEXT RUN", "ATTENTION"}
	if o.all {
		heads = slices.Insert(heads, 0, "NAMESPACE")
	}
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	line(table, heads)
	for i := range items {
		s, last := &items[i], ""
		if run := items[i].Status.LastRun; run != nil && run.StartTime != nil {
			last = duration.HumanDuration(now.Sub(run.StartTime.Time))
		}
		attention := attentionOf(s)
		if o.output != "wide" {
			attention = brief(attention)
		}
		sum := &s.Status.Summary
		cells := []string{s.Name, sum.Schedule, last, sum.Verdict, sum.Trend, sum.Next, attention}
		if o.all {
			cells = slices.Insert(cells, 0, s.Namespace)
		}
		line(table, cells)
	}
	return table.Flush()
}

// rank is the place of a schedule in the list.
func rank(s *v1beta1.LoadTestSchedule) int {
	switch {
	case meta.IsStatusConditionFalse(s.Status.Conditions, v1beta1.ConditionReady):
		return 0
	case s.Status.Summary.Verdict != "" && s.Status.Summary.Verdict != string(v1beta1.VerdictPassed):
		return 1
	}
	return 2
}

// attentionOf is why a schedule starts nothing; empty: it does.
func attentionOf(s *v1beta1.LoadTestSchedule) string {
	for _, bad := range []struct {
		kind   string
		status metav1.ConditionStatus
	}{{v1beta1.ConditionReady, metav1.ConditionFalse}, {v1beta1.ConditionSuspended, metav1.ConditionTrue}} {
		if c := meta.FindStatusCondition(s.Status.Conditions, bad.kind); c != nil && c.Status == bad.status {
			return c.Message
		}
	}
	return ""
}
