package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/rights"
)

// needed are rights that a run may do without, and why they are there.
var needed = map[string]string{
	// A watch begins with the list where the API server streams it, as the local one does.
	"list jobs.batch in all namespaces":                                        "an API server that does not stream lists",
	"list loadtests.loadtest.dev in all namespaces":                            "an API server that does not stream lists",
	"list loadtestschedules.loadtest.dev in all namespaces":                    "an API server that does not stream lists",
	"list configmaps loadtest-operator-config in " + cluster.OperatorNamespace: "an API server that does not stream lists",
	"create endpointslices.discovery.k8s.io in " + cluster.OperatorNamespace:   "an apply that makes the object is noted as a patch, and needs both",
	"create events.events.k8s.io in " + cluster.OperatorNamespace:              "a configuration that is not valid",
	"patch events.events.k8s.io in " + cluster.OperatorNamespace:               "a configuration that is not valid for long",
}

// isWhole says whether all tests were run.
func isWhole() bool { return cluster.IsFull() && os.Getenv("SUITE") == "" }

// compareRights compares what the operator may do with what it has asked for since then,
// and says whether they agree. What was not used is known after a run of all tests.
func compareRights(ctx context.Context, since time.Time) error {
	if !cluster.Enforced() {
		return nil // another cluster's audit log is not in reach
	}
	grants, err := grantsOf(ctx, cluster.OperatorNamespace, cluster.OperatorName)
	if err != nil {
		return err
	}
	requests, err := audited(ctx, since)
	if errors.Is(err, fs.ErrNotExist) && !isWhole() {
		fmt.Println("rbac: not compared:", err)
		return nil
	}
	if err != nil {
		return err
	}
	c := rights.Compare(grants, requests)
	c.Unused = slices.DeleteFunc(c.Unused, func(r string) bool { return needed[r] != "" })
	for _, line := range c.Details() {
		if isWhole() || !strings.HasPrefix(line, "rbac: unused: ") {
			fmt.Println(line)
		}
	}
	fmt.Println(c)
	if len(c.Refused)+len(c.Wildcards) > 0 || isWhole() && len(c.Unused) > 0 {
		return errors.New("the operator's rights are not what it needs")
	}
	return nil
}

// grantsOf are the rules that are bound to a service account by its name.
func grantsOf(ctx context.Context, namespace, account string) (all []rights.Grant, err error) {
	var everywhere rbacv1.ClusterRoleBindingList
	var inNamespaces rbacv1.RoleBindingList
	if err := errors.Join(cluster.API.List(ctx, &everywhere), cluster.API.List(ctx, &inNamespaces)); err != nil {
		return nil, err
	}
	add := func(subjects []rbacv1.Subject, ref rbacv1.RoleRef, in string) error {
		if !slices.ContainsFunc(subjects, func(s rbacv1.Subject) bool {
			return s.Kind == rbacv1.ServiceAccountKind && s.Name == account && s.Namespace == namespace
		}) {
			return nil
		}
		rules, err := rulesOf(ctx, ref, in)
		for _, rule := range rules {
			all = append(all, rights.Grant{Namespace: in, Rule: rule})
		}
		return err
	}
	for _, b := range everywhere.Items {
		err = errors.Join(err, add(b.Subjects, b.RoleRef, ""))
	}
	for _, b := range inNamespaces.Items {
		err = errors.Join(err, add(b.Subjects, b.RoleRef, b.Namespace))
	}
	return all, err
}

func rulesOf(ctx context.Context, ref rbacv1.RoleRef, namespace string) ([]rbacv1.PolicyRule, error) {
	if ref.Kind == "ClusterRole" {
		var role rbacv1.ClusterRole
		err := cluster.API.Get(ctx, client.ObjectKey{Name: ref.Name}, &role)
		return role.Rules, err
	}
	var role rbacv1.Role
	err := cluster.API.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.Name}, &role)
	return role.Rules, err
}

// audited is what the operator has asked for, by the audit log of the local cluster.
func audited(ctx context.Context, since time.Time) (map[rights.Request]bool, error) {
	files, err := cluster.Command(ctx, "cluster", "audit")
	if err != nil {
		return nil, err
	}
	requests := map[rights.Request]bool{}
	for _, name := range strings.Fields(files) {
		file, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("%w: a cluster that was started before it had an audit log must be taken down", err)
		}
		account := rights.Account{Username: "system:serviceaccount:" + cluster.OperatorNamespace + ":" + cluster.OperatorName, Stolen: cluster.Theft}
		err = errors.Join(rights.Read(requests, file, account, since), file.Close())
		if err != nil {
			return nil, err
		}
	}
	return requests, nil
}

// renewOwn has the operator begin without what it keeps in its own namespace, and with a
// certificate that is none: it writes all of it anew. No replica from before runs since
// that instant.
func renewOwn(ctx context.Context) (since time.Time, err error) {
	deploy, secret := "deploy/"+cluster.OperatorName, cluster.OperatorName+"-coordinator"
	for _, args := range [][]string{
		{"scale", deploy, "--replicas=0"},
		{"wait", "pod", "-l", "app.kubernetes.io/name=loadtest-operator", "--for=delete", "--timeout=" + cluster.Patience.String()},
		{"delete", "--ignore-not-found", "secret/" + secret, "endpointslice/" + cluster.OperatorName + "-leader", "lease/loadtest-operator.loadtest.dev"},
		{"scale", deploy, "--replicas=2"},
		{"rollout", "status", deploy, "--timeout=" + cluster.Patience.String()},
		{"patch", "secret", secret, "--type=merge", "--patch", `{"data":{"tls.crt":""}}`},
	} {
		if _, err := cluster.Command(ctx, "kubectl", append([]string{"-n", cluster.OperatorNamespace}, args...)...); err != nil {
			return since, err
		}
		if args[0] == "wait" {
			since = time.Now()
		}
	}
	return since, nil
}
