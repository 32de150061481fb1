package document

import (
	"embed"
	"fmt"

	"sigs.k8s.io/yaml"
)

//go:embed published/*.yaml
var files embed.FS

// published is what a seed says, and what that leaves out.
type published struct {
	Title  string           `json:"title"`
	Source source           `json:"source"`
	Tables []publishedTable `json:"tables"`
	Hides  []hidden         `json:"hides"`
}

// source is where it was published.
type source struct {
	Repository string `json:"repository"`
	File       string `json:"file"`
	Commit     string `json:"commit"`
	Date       string `json:"date"`
}

// publishedTable has a row for each step of a load test that sends something, in order;
// rows that were not published are absent at its end.
type publishedTable struct {
	Title      string     `json:"title"`
	Experiment string     `json:"experiment"`
	Test       string     `json:"test"`
	Heads      []string   `json:"heads"`
	Rows       [][]string `json:"rows"`
}

// hidden is a statement of the seed, what is true of it, and the expectations that show
// it.
type hidden struct {
	Claim string   `json:"claim"`
	Truth string   `json:"truth"`
	Shown []string `json:"shown"`
}

func read(seed string) (*published, error) {
	name := "published/seed-" + seed + ".yaml"
	text, err := files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	p := &published{}
	if err := yaml.UnmarshalStrict(text, p); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}
