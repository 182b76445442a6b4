package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/embed"
)

// graphFlags are those of the graph command.
type graphFlags struct {
	stage string
	dot   bool
	html  string
	run   profileFlags
}

// stageNames is the way of a program, as the command speaks of it.
var stageNames = []string{"trace", "simplify", "partition", "plan", "loops", "code"}

func (a *app) graphCommand() *cobra.Command {
	var f graphFlags
	c := &cobra.Command{
		Use:   "graph [MODEL]",
		Short: "Show a model's program at each stage of compiling",
		Long: `Graph compiles the program of a model and prints a stage of it:

  trace      operations as the model asks for them
  simplify   the same after all passes over the graph
  partition  which operations each kernel does, and why it is not one with
             those that it reads from
  plan       kernels in their order, and the buffers between them
  loops      each kernel as loops
  code       the generated machine code

Without --stage it prints a table of the stages: operations (of the graph),
kernels, and bytes, which are those of the weights in the first two and of the
machine code in the last.

With --profile it runs the model on random texts and prints how long each
kernel took, beside what the machine could do: operations at the rate of a loop
of multiply-adds, and bytes at that of a read from memory for kernels that
touch more than the caches hold. On a GPU it is beside what that could do: bytes
at the rate of a copy that touches as many.

With --html it writes one file for a browser: operations, what passes did to
them, kernels and why they are apart, memory, loops and machine code; with
--profile the times of kernels and the timeline of a run as well.`,
		Example: `  sinter graph --stage simplify
  sinter graph --dot | dot -Tsvg > model.svg
  sinter graph --profile --batch 1 --tokens 12
  sinter graph --profile --html model.html
  sinter graph --profile --device opencl`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("give one model: there are %d arguments", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.modelArgument(args); err != nil {
				return err
			}
			f.run.given = cmd.Flags().Changed("tokens")
			if err := checkEmpty(cmd.Flags(), "the name of a file", "html", "timeline"); err != nil {
				return err
			}
			return a.graph(cmd.Context(), f)
		},
	}
	c.Flags().StringVar(&f.stage, "stage", "", "print this stage: "+strings.Join(stageNames, ", "))
	c.Flags().BoolVar(&f.dot, "dot", false, "print the simplified graph in the language of Graphviz, with its kernels")
	c.Flags().StringVar(&f.html, "html", "", "write all stages as a page to this file, with --profile what was measured too")
	c.Flags().BoolVar(&f.run.on, "profile", false, "run the model and print the time of each kernel")
	c.Flags().IntVar(&f.run.batch, "batch", 8, "texts of a run, with --profile and --html")
	c.Flags().IntVar(&f.run.tokens, "tokens", 128, "tokens of a text, with --profile and --html")
	c.Flags().StringVar(&f.run.timeline, "timeline", "", "write the timeline of the profile to this file, for ui.perfetto.dev or chrome://tracing")
	return c
}

func (f graphFlags) check(json bool) error {
	switch {
	case f.run.on && (f.dot || f.stage != ""):
		return usagef("--profile and a stage of the graph: give one")
	case f.html != "" && f.dot:
		return usagef("--dot and --html: give one")
	case f.html != "" && f.stage != "":
		return usagef("--html shows all stages: give it without --stage")
	case f.html != "" && f.html == f.run.timeline:
		return usagef("--html and --timeline are one file, %s: give two", f.html)
	case f.html != "" && json:
		return usagef("--html and --json: give one")
	case f.stage != "" && !slices.Contains(stageNames, f.stage):
		return usagef("--stage %q: use %s", f.stage, strings.Join(stageNames, ", "))
	case f.dot && f.stage != "":
		return usagef("--dot draws operations and kernels together: give it without --stage")
	case f.dot && json:
		return usagef("--dot and --json: give one")
	}
	return f.run.check()
}

func (a *app) graph(ctx context.Context, f graphFlags) (err error) {
	if err := f.check(a.settings.json); err != nil {
		return err
	}
	if f.html != "" || f.dot {
		return a.graphPicture(ctx, f)
	}
	if f.run.on {
		return a.profile(ctx, f.run)
	}
	m, err := a.openModel()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	g := embed.Graph(m)
	if err := g.Err(); err != nil {
		return err
	}
	stages, err := a.stages(ctx, g)
	if err != nil {
		return err
	}
	if f.stage != "" {
		stages = slices.DeleteFunc(stages, func(s stage) bool { return s.Name != f.stage })
		if len(stages) == 0 {
			return fmt.Errorf("the device has no stage %s: try --device cpu", f.stage)
		}
	}
	switch {
	case a.settings.json:
		return a.printJSON(struct {
			Stages []stage `json:"stages"`
		}{stages})
	case f.stage != "":
		_, err := io.WriteString(a.stdout, stages[0].text)
		return err
	}
	return a.printStages(stages)
}

// stages compiles g and collects what it becomes on the way.
func (a *app) stages(ctx context.Context, g *sinter.Graph) (_ []stage, err error) {
	d, err := a.openDevice(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	texts := map[string]string{}
	o := a.compileOptions()
	o.Device = d
	o.Trace = func(name, text string) { texts[name] = text }
	p, err := sinter.Compile(g, o)
	if err != nil {
		return nil, err
	}
	info := p.Info()
	if err := p.Close(); err != nil {
		return nil, err
	}
	if texts["trace"] == "" { // a device without stages of its own
		texts["trace"] = g.String()
	}
	return measureStages(texts, info), nil
}

func (a *app) printStages(stages []stage) error {
	t := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "STAGE\tNODES\tKERNELS\tBYTES")
	for _, s := range stages {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", s.Name, countText(s.Nodes), countText(s.Kernels), byteText(uint64(s.Bytes)))
	}
	return t.Flush()
}

func countText(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}
