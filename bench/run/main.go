// Command run measures what docs/performance.md shows, keeps the rows beside
// the page and writes its tables and plots anew, so that no figure there is
// typed by hand. Run it at the root of the repository, on a quiet machine:
//
//	go run ./bench/run -list                          # the parts, and how long each took
//	go run ./bench/run -python PY -model DIR all      # everything
//	go run ./bench/run gemm-f32 embed                 # some parts; the others keep their rows
//	go run ./bench/run                                # the page alone, from the rows there are
//
// The parts beside other libraries need a python with their packages and the
// publisher's files of all-MiniLM-L6-v2; the rest needs Go alone.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
)

const (
	page   = "docs/performance.md"
	folder = "docs/performance" // of rows and plots
)

func main() {
	list := flag.Bool("list", false, "list the parts")
	python := flag.String("python", "python3", "python that has the packages of the scripts in bench/peers")
	model := flag.String("model", "", "folder with the publisher's files of all-MiniLM-L6-v2")
	rounds := flag.Int("rounds", 0, "rounds of those scripts; 0: as many as they take by themselves")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *list, flag.Args(), allParts(*python, *model, *rounds)); err != nil {
		fmt.Fprintln(os.Stderr, "run:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, list bool, names []string, parts []part) error {
	if slices.Equal(names, []string{"all"}) {
		names = nil
		for _, p := range parts {
			names = append(names, p.name)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(parts, func(p part) bool { return p.name == name }) {
			return fmt.Errorf("no part %q: -list shows them", name)
		}
	}
	if list {
		return listParts(parts)
	}
	var errs []error
	for _, p := range parts {
		if slices.Contains(names, p.name) && ctx.Err() == nil {
			if err := p.measure(ctx); err != nil { // the other parts can still be had
				errs = append(errs, fmt.Errorf("%s: %w", p.name, err))
			}
		}
	}
	return errors.Join(append(errs, ctx.Err(), writePage(page, folder))...)
}

func listParts(parts []part) error {
	for _, p := range parts {
		took := "not measured"
		if r, err := readRecord(folder, p.name); err == nil {
			took = fmt.Sprintf("%.0f s", r.Seconds)
		}
		fmt.Printf("%-10s %-14s %s\n", p.name, took, p.shown())
	}
	return nil
}
