package document

import (
	"cmp"
	"embed"
	"errors"
	"fmt"

	"sigs.k8s.io/yaml"
)

//go:embed published/*.yaml
var files embed.FS

// published is what a seed says, and what that leaves out.
type published struct {
	Title  string `json:"title"`
	Source source `json:"source"`
	// Labels are what plots and winners call an experiment.
	Labels map[string]string `json:"labels"`
	Tables []table           `json:"tables"`
	Hides  []hidden          `json:"hides"`
}

// source is where it was published.
type source struct {
	Repository string `json:"repository"`
	File       string `json:"file"`
	Commit     string `json:"commit"`
	Date       string `json:"date"`
}

// table is a published one, or lines that are one in all but form. Beneath each row stands
// a row of own figures for each variant.
type table struct {
	Title string `json:"title"`
	// Lines are its place in the source, and Published how many rows or, if Transposed,
	// lines of blocks there are. Both were counted in the source.
	Lines     string `json:"lines"`
	Published int    `json:"published"`
	// Transposed tables have a published block in each column, whose lines are the rows.
	Transposed bool     `json:"transposed,omitempty"`
	Note       string   `json:"note,omitempty"`
	Columns    []column `json:"columns"`
	Rows       []row    `json:"rows"`
	// Here are the variants, of which the first is the one that was published; one without
	// a name if there are none.
	Here  []variant `json:"here,omitempty"`
	place `json:",inline"`
}

// column is a label if nothing of its place is set, in it or in any row.
type column struct {
	Head string `json:"head"`
	// Label says that the column names the row: there is no figure beside it.
	Label bool `json:"label,omitempty"`
	place `json:",inline"`
}

// row has a cell for each column. An empty one was published as such.
type row struct {
	Cells []string `json:"cells"`
	// Here are the variants of this row alone.
	Here  []variant `json:"here,omitempty"`
	place `json:",inline"`
}

type variant struct {
	Name  string `json:"name,omitempty"`
	place `json:",inline"`
}

// place is where an own figure comes from. Table, variant, column and row each say a part
// of it: the last that does holds.
type place struct {
	Experiment string `json:"experiment,omitempty"`
	Test       string `json:"test,omitempty"`
	// Rung is from 1; Whole is all of them together.
	Rung  int  `json:"rung,omitempty"`
	Whole bool `json:"whole,omitempty"`
	// Figure is one of record.Figures, or of texts.
	Figure string `json:"figure,omitempty"`
	// As is what is said of it: its value, or one of conclusions.
	As string `json:"as,omitempty"`
	// Judged is the figure that a conclusion is about, where it is not Figure.
	Judged string `json:"judged,omitempty"`
	// Sides are the experiments that a conclusion compares.
	Sides []string `json:"sides,omitempty"`
	// AtLeast and AtMost bound the figure, where something was published as a target.
	AtLeast *float64 `json:"atLeast,omitempty"`
	AtMost  *float64 `json:"atMost,omitempty"`
	// Missing is why there is no own figure.
	Missing string `json:"missing,omitempty"`
}

// over is a place with what another leaves open.
func (p place) over(q place) place {
	p.Experiment, p.Test, p.Figure = cmp.Or(p.Experiment, q.Experiment), cmp.Or(p.Test, q.Test), cmp.Or(p.Figure, q.Figure)
	p.As, p.Judged, p.Missing = cmp.Or(p.As, q.As), cmp.Or(p.Judged, q.Judged), cmp.Or(p.Missing, q.Missing)
	p.Rung, p.Whole = cmp.Or(p.Rung, q.Rung), p.Whole || q.Whole && p.Rung == 0
	p.AtLeast, p.AtMost = cmp.Or(p.AtLeast, q.AtLeast), cmp.Or(p.AtMost, q.AtMost)
	if p.Sides == nil {
		p.Sides = q.Sides
	}
	return p
}

// hidden is a statement of the seed, what is true of it, and the expectations, or checks,
// that show it.
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
	for i := range p.Tables {
		if err := p.Tables[i].validate(); err != nil {
			return nil, fmt.Errorf("%s: table %q: %w", name, p.Tables[i].Title, err)
		}
	}
	return p, nil
}

// validate says whether each row has a cell for each column, of which the first is a label.
func (t *table) validate() error {
	if len(t.Columns) == 0 || !t.Columns[0].Label {
		return errors.New("its first column has to be a label")
	}
	for i, r := range t.Rows {
		if len(r.Cells) != len(t.Columns) {
			return fmt.Errorf("row %d has %d cells for %d columns", i+1, len(r.Cells), len(t.Columns))
		}
	}
	return nil
}

// variants are those of a row.
func (t *table) variants(r *row) []variant {
	switch {
	case len(r.Here) > 0:
		return r.Here
	case len(t.Here) > 0:
		return t.Here
	}
	return []variant{{}}
}

// at is the place of a cell in a variant.
func (t *table) at(r *row, c *column, v *variant) place {
	return r.place.over(c.place).over(v.place).over(t.place)
}
