package deviation

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	controlled = "controlled by the LoadTest of its name"
	oneOnly    = "must have one container"
	ofNode     = "no namespace or port of their node"
	scheduled  = "scheduled and run like any others"
	labelled   = "no other label or annotation than the configuration allows"
	noToken    = "no token for the API server"
	podLimits  = "the pods must be restricted"
	limits     = "the container must be restricted"
	program    = "run what its image runs"
	volumes    = "the volumes must be a token for the coordinator"
	secrets    = "the Secrets must be those that LoadTests of the namespace may use"
	pulled     = "the Secrets with which images are pulled must be those"
	resolved   = "the pods must ask the cluster's name servers"
	claims     = "the claims must be those that LoadTests of the namespace may use"
)

// jobs are Jobs that no LoadTest has.
var jobs = []Deviation{
	job("no owner", controlled, func(j *batchv1.Job) { j.OwnerReferences = nil }),
	job("an owner that does not control", controlled, func(j *batchv1.Job) { j.OwnerReferences[0].Controller = nil }),
	job("an owner of another kind", controlled, func(j *batchv1.Job) { j.OwnerReferences[0].Kind = "CronJob" }),
	job("an owner of another group", controlled, func(j *batchv1.Job) { j.OwnerReferences[0].APIVersion = "batch/v1" }),
	job("another name than its owner's", controlled, func(j *batchv1.Job) { j.Name += "-2" }),
	job("another UID than its label's", controlled, func(j *batchv1.Job) { j.OwnerReferences[0].UID = "another" }),
	job("a second owner", controlled, func(j *batchv1.Job) {
		j.OwnerReferences = append(j.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "a", UID: "b"})
	}),
	job("no label of a run", controlled, func(j *batchv1.Job) { j.Labels = map[string]string{"app": "a"} }),
	job("pods of another run", labelled, func(j *batchv1.Job) { j.Spec.Template.Labels["loadtest.dev/run"] = "another" }),
	job("pods that a Service selects", labelled, func(j *batchv1.Job) { j.Spec.Template.Labels["app"] = "shop" }),
	job("pods without a profile of AppArmor", labelled, func(j *batchv1.Job) {
		j.Spec.Template.Annotations = map[string]string{"container.apparmor.security.beta.kubernetes.io/worker": "unconfined"}
	}),
	job("kube-system", "no LoadTest runs in kube-system", func(j *batchv1.Job) { j.Namespace = metav1.NamespaceSystem }),

	pod("a second container", oneOnly, func(p *corev1.PodSpec) {
		second := *p.Containers[0].DeepCopy()
		second.Name = "second"
		p.Containers = append(p.Containers, second)
	}),
	pod("an init container", oneOnly, func(p *corev1.PodSpec) {
		first := *p.Containers[0].DeepCopy()
		first.Name = "first"
		p.InitContainers = []corev1.Container{first}
	}),
	pod("the host's network", ofNode, func(p *corev1.PodSpec) { p.HostNetwork = true }),
	pod("the host's processes", ofNode, func(p *corev1.PodSpec) { p.HostPID = true }),
	pod("the host's IPC", ofNode, func(p *corev1.PodSpec) { p.HostIPC = true }),
	container("a port of the host", ofNode, func(c *corev1.Container) { c.Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}} }),
	pod("a node of its choice", scheduled, func(p *corev1.PodSpec) { p.NodeName = "node-1" }),
	pod("the priority of the system", scheduled, func(p *corev1.PodSpec) { p.PriorityClassName = "system-cluster-critical" }),
	pod("another scheduler", scheduled, func(p *corev1.PodSpec) { p.SchedulerName = "mine" }),
	pod("another runtime", scheduled, func(p *corev1.PodSpec) { p.RuntimeClassName = ptr.To("bare") }),
	pod("a device", scheduled, func(p *corev1.PodSpec) {
		p.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: ptr.To("gpu")}}
	}),
	pod("the account's token", noToken, func(p *corev1.PodSpec) { p.AutomountServiceAccountToken = nil }),
	pod("another account", noToken, func(p *corev1.PodSpec) { p.ServiceAccountName = "cluster-admin" }),
	pod("another account by its former name", noToken, func(p *corev1.PodSpec) { p.DeprecatedServiceAccount = "cluster-admin" }),
	pod("no security context", podLimits, func(p *corev1.PodSpec) { p.SecurityContext = nil }),
	pod("root", podLimits, func(p *corev1.PodSpec) { p.SecurityContext.RunAsUser = ptr.To[int64](0) }),
	pod("root by default", podLimits, func(p *corev1.PodSpec) { p.SecurityContext.RunAsNonRoot = nil }),
	pod("no filter of system calls", podLimits, func(p *corev1.PodSpec) { p.SecurityContext.SeccompProfile.Type = corev1.SeccompProfileTypeUnconfined }),
	pod("a kernel setting", podLimits, func(p *corev1.PodSpec) {
		p.SecurityContext.Sysctls = []corev1.Sysctl{{Name: "kernel.msgmax", Value: "1"}}
	}),
	pod("a group of the host", podLimits, func(p *corev1.PodSpec) { p.SecurityContext.SupplementalGroups = []int64{0} }),
	container("no security context of its container", limits, func(c *corev1.Container) { c.SecurityContext = nil }),
	container("privileges", limits, func(c *corev1.Container) {
		c.SecurityContext.Privileged, c.SecurityContext.AllowPrivilegeEscalation = ptr.To(true), nil
	}),
	container("privileges that grow", limits, func(c *corev1.Container) { c.SecurityContext.AllowPrivilegeEscalation = nil }),
	container("a capability", limits, func(c *corev1.Container) { c.SecurityContext.Capabilities.Add = []corev1.Capability{"SYS_ADMIN"} }),
	container("all capabilities", limits, func(c *corev1.Container) { c.SecurityContext.Capabilities = nil }),
	container("a container's root", limits, func(c *corev1.Container) { c.SecurityContext.RunAsUser = ptr.To[int64](0) }),
	container("a container without a filter of system calls", limits, func(c *corev1.Container) {
		c.SecurityContext.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeUnconfined}
	}),
	container("a disk that can be written", limits, func(c *corev1.Container) { c.SecurityContext.ReadOnlyRootFilesystem = nil }),
	container("a command", program, func(c *corev1.Container) { c.Command = []string{"sh", "-c", "id"} }),
	container("arguments", program, func(c *corev1.Container) { c.Args = []string{"--help"} }),
	container("a hook", program, func(c *corev1.Container) {
		c.Lifecycle = &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"id"}}}}
	}),
	container("a probe, which the kubelet sends from its node", program, func(c *corev1.Container) {
		c.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Host: "169.254.169.254", Port: intstr.FromInt32(80)}}}
	}),
	container("another variable", program, func(c *corev1.Container) { c.Env = append(c.Env, corev1.EnvVar{Name: "LD_PRELOAD", Value: "/x.so"}) }),
	container("a Secret as a variable", program, func(c *corev1.Container) {
		from := &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "api"}, Key: "a"}}
		c.Env = append(c.Env, corev1.EnvVar{Name: "LOADTEST_X", ValueFrom: from})
	}),
	container("a whole Secret as variables", program, func(c *corev1.Container) {
		c.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "api"}}}}
	}),
	volume("a folder of the host", corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}),
	volume("a whole Secret", corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "api"}}),
	volume("a claim to write", corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "loadtest-data"}}),
	pod("a claim that is not for load tests, as a volume", claims, func(p *corev1.PodSpec) {
		claim := &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data", ReadOnly: true}
		p.Volumes = append(p.Volumes, corev1.Volume{Name: "more", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: claim}})
	}),
	volume("all keys of a projected Secret", projected(corev1.VolumeProjection{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "api"}}})),
	volume("a token for the API server", projected(corev1.VolumeProjection{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}})),
	volume("a token for another service", projected(corev1.VolumeProjection{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", Audience: "vault"}})),
	{"a Job of the operator that mounts the operator's own key", secrets, func(ctx context.Context, c client.Client, job *batchv1.Job, own string) error {
		job = job.DeepCopy()
		job.Namespace = own
		key := &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "loadtest-operator-coordinator"}, Items: []corev1.KeyToPath{{Key: "tls.key", Path: "a"}}}
		volumes := &job.Spec.Template.Spec.Volumes
		*volumes = append(*volumes, corev1.Volume{Name: "more", VolumeSource: projected(corev1.VolumeProjection{Secret: key})})
		return c.Create(ctx, job, client.DryRunAll)
	}},
	pod("a key of a Secret that is not for load tests, as a volume", secrets, func(p *corev1.PodSpec) {
		key := &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "api"}, Items: []corev1.KeyToPath{{Key: "a", Path: "a"}}}
		p.Volumes = append(p.Volumes, corev1.Volume{Name: "more", VolumeSource: projected(corev1.VolumeProjection{Secret: key})})
	}),
	pod("another Secret to pull its image", pulled, func(p *corev1.PodSpec) {
		p.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}}
	}),
	pod("a name server of its own", resolved, func(p *corev1.PodSpec) {
		p.DNSConfig = &corev1.PodDNSConfig{Nameservers: []string{"192.0.2.1"}}
	}),
	pod("the name servers of its node", resolved, func(p *corev1.PodSpec) { p.DNSPolicy = corev1.DNSDefault }),
	pod("addresses of its own for names", resolved, func(p *corev1.PodSpec) {
		p.HostAliases = []corev1.HostAlias{{IP: "192.0.2.1", Hostnames: []string{"shop"}}}
	}),
	volume("what the pod is", projected(corev1.VolumeProjection{DownwardAPI: &corev1.DownwardAPIProjection{}})),
}

// job is a Job with a change.
func job(name, words string, change func(*batchv1.Job)) Deviation {
	return Deviation{"a Job of the operator with " + name, words, func(ctx context.Context, c client.Client, job *batchv1.Job, _ string) error {
		job = job.DeepCopy()
		change(job)
		return c.Create(ctx, job, client.DryRunAll)
	}}
}

func pod(name, words string, change func(*corev1.PodSpec)) Deviation {
	return job(name, words, func(j *batchv1.Job) { change(&j.Spec.Template.Spec) })
}

func container(name, words string, change func(*corev1.Container)) Deviation {
	return pod(name, words, func(p *corev1.PodSpec) { change(&p.Containers[0]) })
}

func volume(name string, source corev1.VolumeSource) Deviation {
	return pod(name+" as a volume", volumes, func(p *corev1.PodSpec) {
		p.Volumes = append(p.Volumes, corev1.Volume{Name: "more", VolumeSource: source})
	})
}

func projected(source corev1.VolumeProjection) corev1.VolumeSource {
	return corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{source}}}
}
