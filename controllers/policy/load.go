package policy

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	config "github.com/loadtest-dev/loadtest-operator/api/config/v1alpha1"
)

// Load reads a document of YAML. Its error names the field and the way out. An unknown
// field is an error, since it may be a rule that was meant.
func Load(document []byte) (*Policy, error) {
	var c config.OperatorConfiguration
	if err := read(document, &c); err != nil {
		return nil, err
	}
	return New(c)
}

// LoadSwitch reads a switch in the same way.
func LoadSwitch(document []byte) (config.Switch, error) {
	var s config.Switch
	if err := read(document, &s); err != nil {
		return s, err
	}
	if err := checkType(s.APIVersion, s.Kind, config.SwitchKind); err != nil {
		return s, err
	}
	for i, stop := range s.Stops {
		if err := checkNamespaces(fmt.Sprintf("stops[%d].namespaces", i), stop.Namespaces); err != nil {
			return s, err
		}
	}
	return s, nil
}

// read reads one document, strictly: a field that is unknown or there twice is an error,
// and so is a second document, which would be left out.
func read(document []byte, into any) error {
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(document)))
	for found := false; ; {
		one, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read YAML: %w", err)
		}
		raw, err := yaml.YAMLToJSONStrict(one)
		switch {
		case err != nil:
			return fmt.Errorf("read YAML: %w", err)
		case string(raw) == "null":
			continue
		case found:
			return errors.New("must be one document of YAML; write all rules into it")
		}
		found = true
		if err := decode(raw, into); err != nil {
			return err
		}
	}
}

func decode(raw []byte, into any) error {
	problems, err := json.UnmarshalStrict(raw, into)
	if err != nil {
		return fmt.Errorf("read the fields: %w", err)
	}
	return errors.Join(problems...)
}

// Next is the policy that follows when the ConfigMap has these data: nil, there is no
// ConfigMap. In place of a document that is invalid the last one stays in force, and the
// error says what is wrong with it. Without a last one, no run begins until it is
// corrected.
func Next(last *Policy, data map[string]string) (*Policy, error) {
	next, err := &Policy{}, checkKeys(data)
	if loaded, problem := Load([]byte(data[config.ConfigKey])); problem == nil && err == nil {
		next.checked = loaded.checked
	} else {
		err = errors.Join(err, wrap(config.ConfigKey, problem))
		next.keepConfig(last, err)
	}
	loaded, problem := LoadSwitch([]byte(data[config.SwitchKey]))
	if problem == nil {
		next.stops = loaded.Stops
		return next, err
	}
	problem = wrap(config.SwitchKey, problem)
	next.keepStops(last, problem)
	return next, errors.Join(err, problem)
}

func (p *Policy) keepConfig(last *Policy, problem error) {
	if last == nil || last.badConfig != nil {
		p.badConfig = problem
		return
	}
	p.checked = last.checked
}

func (p *Policy) keepStops(last *Policy, problem error) {
	if last == nil || last.badStops != nil {
		p.badStops = problem
		return
	}
	p.stops = last.stops
}

// checkKeys refuses a key that is not known: rules that were meant may stand there.
func checkKeys(data map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if key != config.ConfigKey && key != config.SwitchKey {
			return fmt.Errorf("key %s is unknown: the configuration belongs under %s", key, config.ConfigKey)
		}
	}
	return nil
}

func checkType(apiVersion, kind, want string) error {
	if apiVersion != "" && apiVersion != config.APIVersion {
		return fmt.Errorf("apiVersion %q: must be %s", apiVersion, config.APIVersion)
	}
	if kind != "" && kind != want {
		return fmt.Errorf("kind %q: must be %s", kind, want)
	}
	return nil
}

func wrap(key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", key, err)
}
