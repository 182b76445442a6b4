package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// A section is a piece of the page that is made from rows, and its plot if it
// has one.
type section struct {
	name string // in the page's marker, and of the plot's file
	make func(folder string) (text string, plot *chart, err error)
}

var sections = []section{
	{"machine", machineSection},
	{"products", productsSection},
	{"models", modelsSection},
	{"fused", fusedSection},
	{"startup", startupSection},
	{"peers", peersSection},
	{"mixed", mixedSection},
	{"training", trainingSection},
	{"concurrent", concurrentSection},
	{"parts", partsSection},
}

// marked is a section of the page.
var marked = regexp.MustCompile(`(?s)<!-- figures: (\w+) -->\n.*?<!-- end -->\n`)

// writePage brings page and plots up to date with the rows in the folder.
func writePage(page, folder string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	updated, plots, err := fillPage(string(text), folder)
	if err != nil {
		return err
	}
	for name, svg := range plots {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(svg), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(page, []byte(updated), 0o644)
}

// fillPage gives the page with every section made anew, and the plots by the
// names of their files.
func fillPage(text, folder string) (string, map[string]string, error) {
	var errs []error
	plots, found := map[string]string{}, map[string]bool{}
	updated := marked.ReplaceAllStringFunc(text, func(block string) string {
		name := marked.FindStringSubmatch(block)[1]
		for _, s := range sections {
			if s.name != name {
				continue
			}
			found[name] = true
			body, plot, err := s.make(folder)
			if err != nil {
				errs = append(errs, err)
				return block
			}
			if plot != nil && len(plot.panels) > 0 {
				file := name + ".svg"
				plots[file] = plot.svg()
				body = fmt.Sprintf("%s\n![%s](%s/%s)\n", body, plot.title, filepath.Base(folder), file)
			}
			return fmt.Sprintf("<!-- figures: %s -->\n%s<!-- end -->\n", name, body)
		}
		errs = append(errs, fmt.Errorf("nothing makes the section %q of the page", name))
		return block
	})
	for _, s := range sections {
		if !found[s.name] {
			errs = append(errs, fmt.Errorf("the page lacks the section %q", s.name))
		}
	}
	return updated, plots, errors.Join(errs...)
}

// table is rows of cells, the first of them the heading.
type table [][]string

func (t *table) add(cells ...string) { *t = append(*t, cells) }

func (t table) String() string {
	var b strings.Builder
	for i, row := range t {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	return b.String()
}

// missing stands where a part was not measured.
func missing(part string) string { return "not measured: `go run ./bench/run " + part + "`" }
