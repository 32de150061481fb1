package source

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Format is the format of a table in a file.
type Format uint8

const (
	// CSV has the names of the columns in its first line (RFC 4180).
	CSV Format = iota
	// JSONLines has an object of scalars on each line, all with the same names.
	JSONLines
)

// File is a table in a file.
type File struct {
	// Name and Path identify the table in errors.
	Name, Path string
	Format     Format
	Choice     Choice
	// Worker is the worker whose rows are kept: Worker, Worker+Workers, …
	Worker, Workers int32
	// Most bounds the memory of the worker's rows, in bytes; 0: 64 MiB.
	Most int64
}

const (
	// maxLine bounds a line of JSON.
	maxLine = 1 << 20
	// maxRow bounds a row of CSV, which may have line breaks and is held whole: else a quote without an end would take the
	// memory of the rest of the file. No body of a request that is read from a file is larger.
	maxRow = 16 << 20
)

// ReadTable reads one worker's rows. Its errors name the data, file and line.
func ReadTable(r io.Reader, f File) (*Table, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	if mark, _ := in.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		_, _ = in.Discard(3) // a byte order mark, as some spreadsheets write it
	}
	t := &tableReader{file: f}
	var err error
	if f.Format == JSONLines {
		err = t.readJSON(in)
	} else {
		err = t.readCSV(in)
	}
	if err == nil && t.table.Rows() == 0 {
		err = t.error(0, fmt.Errorf("has %d rows, so worker %d gets none: it needs at least as many rows as there are workers, %d", t.rows, f.Worker, f.Workers))
	}
	return t.table, err
}

// tableReader reads a table.
type tableReader struct {
	file  File
	table *Table
	rows  int64 // of all workers
}

func (t *tableReader) error(line int, err error) error {
	where := ""
	if line > 0 {
		where = fmt.Sprintf(", line %d", line)
	}
	return fmt.Errorf("%s%s: %w", t.name(), where, err)
}

func (t *tableReader) name() string { return fmt.Sprintf("data %q, file %s", t.file.Name, t.file.Path) }

func (t *tableReader) begin(line int, columns []string) error {
	var err error
	if t.table, err = NewTable(t.name(), columns, t.file.Choice); err != nil {
		return t.error(line, err)
	}
	t.table.fromFile, t.table.most = true, max(t.table.most, min(t.file.Most, math.MaxUint32))
	return nil
}

// add keeps a row if it is one of the worker's.
func (t *tableReader) add(line int, cells []string) error {
	mine := t.rows%int64(t.file.Workers) == int64(t.file.Worker)
	t.rows++
	if !mine {
		return nil
	}
	if err := t.table.Add(cells); err != nil {
		return t.error(line, err)
	}
	t.table.lines = append(t.table.lines, uint32(line))
	return nil
}

func (t *tableReader) readCSV(in io.Reader) error {
	row := &rowReader{in: in}
	reader := csv.NewReader(row)
	reader.ReuseRecord = true
	for header, next := true, 1; ; header = false {
		row.begun = reader.InputOffset()
		cells, err := reader.Read()
		var wrong *csv.ParseError
		switch {
		case errors.Is(err, errRowTooLong):
			return t.error(next, err)
		case errors.Is(err, io.EOF) && header:
			return t.error(0, errors.New("is empty: its first line must have the names of the columns"))
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &wrong) && errors.Is(err, csv.ErrFieldCount):
			return t.error(wrong.Line, fmt.Errorf("has %d values for %d columns", len(cells), len(t.table.columns)))
		case errors.As(err, &wrong):
			return t.error(wrong.StartLine, wrong.Err) // a quote without an end is noticed at the end of the file
		case err != nil:
			return t.error(0, err)
		}
		line, _ := reader.FieldPos(0)
		last, _ := reader.FieldPos(len(cells) - 1)
		next = last + 1 + strings.Count(cells[len(cells)-1], "\n")
		if header {
			err = t.begin(line, slices.Clone(cells))
		} else {
			err = t.add(line, cells)
		}
		if err != nil {
			return err
		}
	}
}

// rowReader gives out the text of a row as long as that may be.
type rowReader struct {
	in          io.Reader
	read, begun int64 // up to where it was read, and where the row began
}

var errRowTooLong = fmt.Errorf("is the beginning of a row of more than %d bytes: a quote at the beginning of a value must have another at its end, and one within it is written twice", maxRow)

func (r *rowReader) Read(p []byte) (int, error) {
	if r.read-r.begun > maxRow {
		return 0, errRowTooLong
	}
	n, err := r.in.Read(p)
	r.read += int64(n)
	return n, err
}

func (t *tableReader) readJSON(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	line := 0
	for lines.Scan() {
		line++
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		if err := t.object(line, text); err != nil {
			return err
		}
	}
	switch {
	case errors.Is(lines.Err(), bufio.ErrTooLong):
		return t.error(line+1, fmt.Errorf("is longer than %d bytes", maxLine))
	case lines.Err() != nil:
		return t.error(line+1, lines.Err())
	case t.table == nil:
		return t.error(0, errors.New("is empty: each line must have a JSON object"))
	}
	return nil
}

func (t *tableReader) object(line int, text []byte) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		return t.error(line, errors.New("is not a JSON object"))
	}
	if t.table == nil {
		columns := make([]string, 0, len(object))
		for name := range object {
			columns = append(columns, name)
		}
		slices.Sort(columns)
		if err := t.begin(line, columns); err != nil {
			return err
		}
	}
	cells := make([]string, len(t.table.columns))
	for i, name := range t.table.columns {
		value, ok := object[name]
		if !ok {
			return t.error(line, errors.New("lacks a name that is in the first line"))
		}
		var err error
		if cells[i], err = scalar(value); err != nil {
			return t.error(line, err)
		}
	}
	if len(object) > len(cells) {
		return t.error(line, fmt.Errorf("has %d values, the first line has %d", len(object), len(cells)))
	}
	return t.add(line, cells)
}

// scalar returns the text of a JSON value, of a string without its quotes.
func scalar(value json.RawMessage) (string, error) {
	switch value[0] {
	case '"':
		var s string
		err := json.Unmarshal(value, &s)
		return s, err
	case '{', '[':
		return "", errors.New("has a value that is not a string, number, true, false or null")
	default:
		return string(value), nil
	}
}
