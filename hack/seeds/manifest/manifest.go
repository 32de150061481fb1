package manifest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	yamlstream "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// Manifest is what an overlay renders to.
type Manifest struct {
	LoadTests []v1beta1.LoadTest
	// Others are documents of other kinds, which load tests name: ConfigMaps.
	Others [][]byte
}

// Parse reads a stream of documents. A field that the API does not have is an error.
func Parse(text []byte) (*Manifest, error) {
	m := &Manifest{}
	documents := yamlstream.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return m, nil
		}
		if err != nil {
			return nil, err
		}
		if err := m.add(document); err != nil {
			return nil, err
		}
	}
}

func (m *Manifest) add(document []byte) error {
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal(document, &kind); err != nil {
		return err
	}
	switch kind.Kind {
	case "":
		return nil // an empty document
	case "LoadTest":
		var lt v1beta1.LoadTest
		if err := yaml.UnmarshalStrict(document, &lt); err != nil {
			return fmt.Errorf("read a LoadTest: %w", err)
		}
		m.LoadTests = append(m.LoadTests, lt)
	default:
		m.Others = append(m.Others, document)
	}
	return nil
}

// Named is the load test of a name.
func (m *Manifest) Named(name string) (*v1beta1.LoadTest, error) {
	for i := range m.LoadTests {
		if m.LoadTests[i].Name == name {
			return &m.LoadTests[i], nil
		}
	}
	return nil, fmt.Errorf("there is no LoadTest %s", name)
}

// Text are the documents as one stream.
func Text(documents ...[]byte) []byte { return bytes.Join(documents, []byte("---\n")) }
