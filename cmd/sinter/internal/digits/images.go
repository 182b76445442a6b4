// Package digits is the task of telling handwritten digits apart: its images,
// the folds by which it is judged, the net, and how that is trained.
package digits

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
)

const (
	// Side is the height and width of an image.
	Side    = 8
	pixels  = Side * Side
	Classes = 10
	fullInk = 16 // of a pixel of the file
)

// Image is the ink of each pixel, from 0 to 1, row by row.
type Image [pixels]float32

// Set is images with their digits.
type Set struct {
	Images []Image
	Labels []int
}

//go:embed data/digits.csv
var file string

// Load reads the images in the binary.
func Load() (*Set, error) {
	s := &Set{}
	for i, line := range strings.Split(strings.TrimSpace(file), "\n") {
		if err := s.add(strings.Split(line, ",")); err != nil {
			return nil, fmt.Errorf("digits.csv: line %d: %w", i+1, err)
		}
	}
	return s, nil
}

// add appends a line of the file: pixels, then the digit.
func (s *Set) add(fields []string) error {
	if len(fields) != pixels+1 {
		return fmt.Errorf("%d fields, want %d", len(fields), pixels+1)
	}
	var values [pixels + 1]int
	for i, f := range fields {
		most := fullInk
		if i == pixels {
			most = Classes - 1
		}
		v, err := strconv.Atoi(f)
		if err != nil || v < 0 || v > most {
			return fmt.Errorf("field %d is %.20q, want 0 to %d", i+1, f, most)
		}
		values[i] = v
	}
	var m Image
	for i := range m {
		m[i] = float32(values[i]) / fullInk
	}
	s.Images, s.Labels = append(s.Images, m), append(s.Labels, values[pixels])
	return nil
}

// Len is the number of images.
func (s *Set) Len() int { return len(s.Images) }
