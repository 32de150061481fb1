package targets

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.yaml.in/yaml/v3"
)

// object is what these tests look at in any rendered object.
type object struct {
	Kind     string `yaml:"kind"`
	Metadata struct {
		Name   string            `yaml:"name"`
		Labels map[string]string `yaml:"labels"`
	} `yaml:"metadata"`
	Data map[string]string `yaml:"data"`
	Spec spec              `yaml:"spec"`
}

type spec struct {
	Replicas *int `yaml:"replicas"`
	Selector any  `yaml:"selector"`
	Ports    []struct {
		Name       string `yaml:"name"`
		Port       int    `yaml:"port"`
		TargetPort string `yaml:"targetPort"`
	} `yaml:"ports"`
	Template *struct {
		Metadata struct {
			Labels      map[string]string `yaml:"labels"`
			Annotations map[string]string `yaml:"annotations"`
		} `yaml:"metadata"`
		Spec podSpec `yaml:"spec"`
	} `yaml:"template"`
}

type podSpec struct {
	AutomountServiceAccountToken *bool `yaml:"automountServiceAccountToken"`
	EnableServiceLinks           *bool `yaml:"enableServiceLinks"`
	TerminationGracePeriod       *int  `yaml:"terminationGracePeriodSeconds"`
	SecurityContext              struct {
		RunAsNonRoot   bool `yaml:"runAsNonRoot"`
		RunAsUser      int  `yaml:"runAsUser"`
		SeccompProfile struct {
			Type string `yaml:"type"`
		} `yaml:"seccompProfile"`
	} `yaml:"securityContext"`
	InitContainers []container         `yaml:"initContainers"`
	Containers     []container         `yaml:"containers"`
	NodeSelector   map[string]string   `yaml:"nodeSelector"`
	Tolerations    []map[string]string `yaml:"tolerations"`
	PullSecrets    []map[string]string `yaml:"imagePullSecrets"`
}

type container struct {
	Name       string   `yaml:"name"`
	Image      string   `yaml:"image"`
	PullPolicy string   `yaml:"imagePullPolicy"`
	Command    []string `yaml:"command"`
	Args       []string `yaml:"args"`
	Env        []struct {
		Name  string `yaml:"name"`
		Value string `yaml:"value"`
	} `yaml:"env"`
	LivenessProbe map[string]any `yaml:"livenessProbe"`
	Resources     struct {
		Requests map[string]string `yaml:"requests"`
		Limits   map[string]string `yaml:"limits"`
	} `yaml:"resources"`
	SecurityContext struct {
		AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
		ReadOnlyRootFilesystem   bool  `yaml:"readOnlyRootFilesystem"`
		Capabilities             struct {
			Drop []string `yaml:"drop"`
		} `yaml:"capabilities"`
	} `yaml:"securityContext"`
}

// release is a rendered chart, its objects by kind/name.
type release map[string]object

// helm returns the helm that $HELM names, or the one that make builds.
func helm(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("HELM"); path != "" {
		return path
	}
	path, err := filepath.Abs("../../bin/helm")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("these tests need helm: run make bin/helm, or name one in $HELM: %v", err)
	}
	return path
}

// template renders the chart, and returns what helm wrote.
func template(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, mistakes bytes.Buffer
	cmd := exec.CommandContext(t.Context(), helm(t), append([]string{"template", "limiter", ".", "--namespace", "demo"}, args...)...)
	cmd.Stdout, cmd.Stderr = &out, &mistakes
	err = cmd.Run()
	return out.String(), mistakes.String(), err
}

func render(t *testing.T, args ...string) release {
	t.Helper()
	out, mistakes, err := template(t, args...)
	if err != nil {
		t.Fatalf("helm template %v: %v\n%s", args, err, mistakes)
	}
	objects := release{}
	for decoder := yaml.NewDecoder(bytes.NewBufferString(out)); ; {
		var o object
		if err := decoder.Decode(&o); errors.Is(err, io.EOF) {
			return objects
		} else if err != nil {
			t.Fatalf("rendered YAML: %v\n%s", err, out)
		}
		key := o.Kind + "/" + o.Metadata.Name
		if _, twice := objects[key]; twice {
			t.Fatalf("%s is rendered twice", key)
		}
		objects[key] = o
	}
}

// pod returns the pod of a Deployment.
func (r release) pod(t *testing.T, deployment string) podSpec {
	t.Helper()
	o, ok := r["Deployment/"+deployment]
	if !ok || o.Spec.Template == nil || len(o.Spec.Template.Spec.Containers) != 1 {
		t.Fatalf("no Deployment %s with one container", deployment)
	}
	return o.Spec.Template.Spec
}

func (r release) env(t *testing.T) map[string]string {
	t.Helper()
	env := map[string]string{}
	for _, e := range r.pod(t, "ratelimiter-app").Containers[0].Env {
		env[e.Name] = e.Value
	}
	return env
}
