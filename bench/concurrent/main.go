// Command concurrent compares goroutines that each embed a text, over and over
// at the same time, with one that embeds all of their texts as a batch: what a
// server loses because its requests arrive one by one. They take turns on one
// device, with the model that comes with sinter.
//
//	go run ./bench/concurrent          # a table
//	go run ./bench/concurrent -json    # the rows
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/bench"
)

var dtypes = []struct {
	name      string
	precision sinter.Precision
}{{"f32", sinter.F32}, {"int8", sinter.Int8}}

var lengths = []int{12, 128} // tokens of a text

func main() {
	asJSON := flag.Bool("json", false, "print the rows as JSON")
	rounds := flag.Int("rounds", 7, "turns that each side takes")
	flag.Parse()
	if err := run(*rounds, *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "concurrent:", err)
		os.Exit(1)
	}
}

func run(rounds int, asJSON bool) error {
	if rounds < 1 {
		return fmt.Errorf("%d rounds: use at least 1", rounds)
	}
	var rows []row
	for _, dtype := range dtypes {
		for _, tokens := range lengths {
			r, err := measure(context.Background(), dtype.precision, tokens, rounds)
			if err != nil {
				return err
			}
			r.DType = dtype.name
			rows = append(rows, r)
			if !asJSON {
				fmt.Println(r)
			}
		}
	}
	if !asJSON {
		return nil
	}
	return bench.WriteReport(os.Stdout, rows)
}
