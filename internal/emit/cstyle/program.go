package cstyle

import (
	"fmt"
	"strings"

	"github.com/sinterml/sinter/internal/emit/entry"
)

// Program is the source of a plan and how its entry points are called.
type Program struct {
	Source string
	Args   [][]entry.Arg           // of each kernel
	Shared map[string]entry.Member // by Kernel.Entry, of those that have none of their own
}

// Write makes a program of kernels whose entries have different names.
func (s *Style) Write(kernels []*entry.Kernel) (*Program, error) {
	p := &Program{Shared: map[string]entry.Member{}}
	var b strings.Builder
	var calls []*call
	for _, k := range kernels {
		text, args, call, err := s.write(k)
		if err != nil {
			return nil, fmt.Errorf("kernel %s: %w", k.Work.Name, err)
		}
		fmt.Fprintf(&b, "\n// %s\n%s", k.Work.Name, text)
		p.Args = append(p.Args, args)
		if call != nil {
			calls = append(calls, call)
		}
	}
	s.entries(&b, calls, p.Shared)
	body := b.String()
	p.Source = s.Head + s.prelude(body) + body + s.Foot
	return p, nil
}
