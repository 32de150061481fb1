package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Document is an object of a file, where it stands there.
type Document struct {
	Path string
	// Number is that of the YAML document in its file, from 1.
	Number int
	// text is the document after as many empty lines as stand before it in the file, so
	// that a line of the text is a line of the file.
	text []byte
	// item is the path of the object within the document: "" unless it is one of a List.
	item   string
	Object *unstructured.Unstructured
}

// Read reads the objects of a file; "-" is the standard input.
func Read(path string, stdin io.Reader) ([]Document, error) {
	if path == "-" {
		return Parse(path, stdin)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("-f %s: %w", path, errors.Unwrap(err))
	}
	defer func() { _ = file.Close() }()
	return Parse(path, file)
}

// Parse reads the objects of a YAML stream. The items of a List are objects of their own. A
// document that cannot be read is an error, and those after it are read all the same.
func Parse(path string, input io.Reader) ([]Document, error) {
	content, err := unpacked(input)
	if err != nil {
		return nil, fmt.Errorf("-f %s: %w", path, err)
	}
	var list []Document
	var errs []error
	for i, text := range splitDocuments(content) {
		d := Document{Path: path, Number: i + 1, text: text}
		objects, err := d.objects()
		if err != nil {
			errs = append(errs, fmt.Errorf("-f %s: document %d: %w", path, d.Number, err))
		}
		list = append(list, objects...)
	}
	return list, errors.Join(errs...)
}

// splitDocuments divides a stream at the lines that begin with three dashes, as kubectl
// does. Each document keeps its lines' numbers.
func splitDocuments(content []byte) [][]byte {
	var list [][]byte
	var text bytes.Buffer
	number := 0
	for line := range bytes.Lines(content) {
		number++
		if bytes.HasPrefix(line, []byte("---")) {
			list = append(list, bytes.Clone(text.Bytes()))
			text.Reset()
			text.WriteString(strings.Repeat("\n", number))
			continue
		}
		text.Write(line)
	}
	list = append(list, bytes.Clone(text.Bytes()))
	if len(bytes.TrimSpace(list[0])) == 0 {
		list = list[1:] // a stream may begin with the dashes
	}
	return list
}

// objects are the object of the document, or the items of a List; there is none in a
// document without content.
func (d Document) objects() ([]Document, error) {
	object, err := decode(d.text)
	if err != nil || object == nil {
		return nil, err
	}
	if !object.IsList() {
		d.Object = object
		return []Document{d}, nil
	}
	items, _, err := unstructured.NestedSlice(object.Object, "items")
	if err != nil {
		return nil, err
	}
	list := make([]Document, len(items))
	for i, item := range items {
		content, ok := item.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("items[%d] is not a Kubernetes object", i)
		}
		list[i] = d
		list[i].item, list[i].Object = fmt.Sprintf("items[%d]", i), &unstructured.Unstructured{Object: content}
	}
	return list, nil
}

// decode returns nil for a document without content.
func decode(text []byte) (*unstructured.Unstructured, error) {
	content, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, withRemedy(err, text)
	}
	if bytes.Equal(content, []byte("null")) {
		return nil, nil
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(content); err != nil {
		return nil, fmt.Errorf("is not a Kubernetes object: %w", err)
	}
	return object, nil
}
