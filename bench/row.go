// Package bench measures how close programs come to what the machine could do:
// each time stands beside a bound that was measured in the same process, within
// the same second.
package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Report is the output of a benchmark as JSON.
type Report struct {
	Machine Machine `json:"machine"`
	Results []Row   `json:"results"`
	// Error is why cases behind these were not measured.
	Error string `json:"error,omitempty"`
}

// WriteReport writes rows, of Row or a type of the benchmark's own, in the form
// of a Report, with the machine that they were measured on.
func WriteReport[R any](w io.Writer, rows []R) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(struct {
		Machine Machine `json:"machine"`
		Results []R     `json:"results"`
	}{ThisMachine(), rows})
}

// Row is one configuration that was timed.
type Row struct {
	Name    string `json:"name"`
	Shape   []int  `json:"shape"`
	DType   string `json:"dtype"`
	ISA     string `json:"isa"`     // or another device than the processor
	Threads int    `json:"threads"` // of the processor's; 0 on another device
	// Seconds of one run, the median of the rounds that count.
	Seconds float64 `json:"median_seconds"`
	Rate    float64 `json:"rate"` // in Unit
	Unit    string  `json:"unit"`
	Bound   float64 `json:"bound,omitempty"` // in Unit; 0: none is known
	// Share is the median of the rounds' ratios of our rate to the bound.
	Share float64 `json:"share,omitempty"`
	Set   string  `json:"set"`
	// Noisy says that too few rounds counted: the row of one thread decides.
	Noisy bool `json:"noisy"`
	// Accuracy of what was timed; what it is, the benchmark says.
	Accuracy float64 `json:"accuracy"`
}

// Header names the columns of Row.String.
func Header() string {
	return fmt.Sprintf("%-16s %-18s %-5s %-8s %7s %12s %12s %-10s %8s %7s %10s", "name", "shape", "dtype", "isa", "threads", "seconds", "rate", "unit", "bound", "share", "accuracy")
}

// String is the row as a line of a table.
func (r Row) String() string {
	shape := make([]string, len(r.Shape))
	for i, n := range r.Shape {
		shape[i] = strconv.Itoa(n)
	}
	bound, share, noisy := "-", "-", ""
	if r.Bound > 0 {
		bound, share = number(r.Bound), fmt.Sprintf("%.2f", r.Share)
	}
	if r.Noisy {
		noisy = "  noisy"
	}
	accuracy := fmt.Sprintf("%.2g", r.Accuracy)
	if r.Accuracy > 0.5 { // a cosine, whose last digits tell
		accuracy = fmt.Sprintf("%.7f", r.Accuracy)
	}
	return fmt.Sprintf("%-16s %-18s %-5s %-8s %7d %12s %12s %-10s %8s %7s %10s%s", r.Name, strings.Join(shape, "x"), r.DType, r.ISA, r.Threads,
		number(r.Seconds), number(r.Rate), r.Unit, bound, share, accuracy, noisy)
}

// number prints four digits without an exponent where that is short.
func number(x float64) string {
	if a := math.Abs(x); a >= 1000 && a < 1e7 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}
