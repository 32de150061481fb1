package source

import (
	"fmt"
	"math"
	"regexp"
	"slices"
)

// maxTable bounds the memory of a table's cells, unless its file says otherwise. The rows of a
// ConfigMap are at most 1 MiB; this bounds the values that are captured from responses.
const maxTable = 64 << 20

// cellCost is the memory of a cell besides its text, its part of the row included.
const cellCost = 16

// Table is rows of data, whose columns templates name. A worker has only its own
// rows. No row may be added once a Source renders requests with it.
type Table struct {
	name     string
	columns  []string
	choice   Choice
	fromFile bool
	most     int64 // of memory, in bytes

	text []byte
	ends []uint32 // of the cells in text, row by row
	// lines are the numbers of the rows in the file that the table was read from.
	lines []uint32
	odds  []float64 // of the rows up to each, for Zipf
	// strictest is, for each column, the strictest position in which requests use it.
	strictest []position
}

var columnName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}$`)

// NewTable returns a table without rows. name identifies it in errors.
func NewTable(name string, columns []string, choice Choice) (*Table, error) {
	t := &Table{name: name, columns: columns, choice: choice, most: maxTable, strictest: make([]position, len(columns))}
	seen := map[string]bool{}
	for i, c := range columns {
		switch { // no name is shown, as in describe
		case !columnName.MatchString(c):
			return nil, fmt.Errorf("column %d has no name: use letters, digits and _", i+1)
		case reserved(c):
			return nil, fmt.Errorf("column %d has the name of a variable, %s", i+1, c)
		case seen[c]:
			return nil, fmt.Errorf("column %d has the same name as another", i+1)
		}
		seen[c] = true
	}
	return t, nil
}

// Columns returns the names of the columns, in their order.
func (t *Table) Columns() []string { return slices.Clone(t.columns) }

// describe is a column in an error. It has no name of a file: that is a value if the file
// has no line of names.
func (t *Table) describe(column int) string {
	if t.fromFile {
		return fmt.Sprintf("column %d", column+1)
	}
	return fmt.Sprintf("column %q", t.columns[column])
}

// Rows returns the number of rows.
func (t *Table) Rows() int {
	if len(t.columns) == 0 {
		return 0
	}
	return len(t.ends) / len(t.columns)
}

// Add adds a row, with a cell for each column.
func (t *Table) Add(cells []string) error {
	if err := t.check(cells); err != nil {
		return err
	}
	size := 0
	for _, c := range cells {
		size += len(c)
	}
	if int64(len(t.text)+size+cellCost*(len(t.ends)+len(cells))) > t.most {
		return fmt.Errorf("more than the %d MiB that a worker holds: give it fewer rows, or the run more workers or more memory for each (spec.worker.resources.limits)", t.most>>20)
	}
	for _, c := range cells {
		t.text = append(t.text, c...)
		t.ends = append(t.ends, uint32(len(t.text)))
	}
	if t.choice == Zipf {
		t.odds = append(t.odds, t.total()+math.Pow(float64(t.Rows()), -zipfExponent))
	}
	return nil
}

// check refuses a row that would break the requests that use it.
func (t *Table) check(cells []string) error {
	for i, p := range t.strictest {
		if i >= len(cells) {
			return fmt.Errorf("has no value for column %q", t.columns[i])
		}
		if err := p.check(cells[i]); err != nil {
			return fmt.Errorf("column %q: %w", t.columns[i], err)
		}
	}
	return nil
}

// checkAll checks the rows that were added before it was certain how they are used.
func (t *Table) checkAll() error {
	cells := make([]string, len(t.columns))
	for row := range t.Rows() {
		for i := range cells {
			cells[i] = string(t.cell(row, i))
		}
		if err := t.check(cells); err != nil {
			return fmt.Errorf("%s%s: %w", t.name, t.line(row), err)
		}
	}
	return nil
}

// CheckInPath refuses values of a column that must not stand in a path, and CheckInHeader those that must
// not stand in a header. A table without the column has none. A worker finds the same when it compiles
// its requests.
func (t *Table) CheckInPath(column string) error { return t.checkColumn(column, inPath) }

// CheckInHeader is described at CheckInPath.
func (t *Table) CheckInHeader(column string) error { return t.checkColumn(column, inHeader) }

func (t *Table) checkColumn(column string, p position) error {
	i := slices.Index(t.columns, column)
	if i < 0 {
		return nil
	}
	for row := range t.Rows() {
		if err := p.check(string(t.cell(row, i))); err != nil {
			return fmt.Errorf("%s%s: %w", t.name, t.line(row), err)
		}
	}
	return nil
}

func (t *Table) line(row int) string {
	if row >= len(t.lines) {
		return ""
	}
	return fmt.Sprintf(", line %d", t.lines[row])
}

func (t *Table) cell(row, column int) []byte {
	i := row*len(t.columns) + column
	start := uint32(0)
	if i > 0 {
		start = t.ends[i-1]
	}
	return t.text[start:t.ends[i]]
}
