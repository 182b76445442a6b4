package main

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// trainTasks make the commands of what can be trained, each in a file of its
// own. The flags are those of all tasks, filled when the command runs.
var trainTasks []func(a *app, f *taskFlags) *cobra.Command

// taskFlags are those of all tasks.
type taskFlags struct {
	seed   int64
	out    string
	every  int
	resume bool
	plot   string
	board  string
	task   *cobra.Command // that runs
}

func (f *taskFlags) register(set *pflag.FlagSet) {
	set.Int64Var(&f.seed, "seed", 42, "decides first values, order of the data and all else that is drawn")
	set.StringVar(&f.out, "out", "", "folder for the final weights, model.safetensors, and for checkpoints (default: nothing is kept)")
	set.IntVar(&f.every, "checkpoint-every", 0, "keep a checkpoint in --out every so many steps, the last three of them")
	set.StringVar(&f.plot, "plot", "", "draw the loss and the evaluations to this file, .png or .svg")
	set.StringVar(&f.board, "tensorboard", "", "folder for a file of events that TensorBoard reads")
	set.BoolVar(&f.resume, "resume", false, "go on from the last checkpoint in --out, if there is one")
}

func (a *app) trainCommand() *cobra.Command {
	var f taskFlags
	c := &cobra.Command{
		Use:   "train TASK",
		Short: "Train a model",
		Long: `Train runs one of its tasks. Losses go to standard output, with --json a line of
JSON each; the last line has "done":true and what the task came to. The same
seed gives the same model, bit for bit, for any number of threads. Products
compute in f32, or in tf32 or bf16 by --dtype.

With --out an interrupt (Ctrl-C) keeps a checkpoint before the command ends, and
--checkpoint-every keeps them on the way. --resume goes on from the last; give it
the other flags as they were. The result is that of a run that never stopped.`,
		Args: a.commandArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var names []string
			for _, task := range c.Commands() {
				names = append(names, task.Name())
			}
			return usagef("give a task: there are %s", strings.Join(names, ", "))
		},
	}
	f.register(c.PersistentFlags())
	for _, make := range trainTasks {
		task := make(a, &f)
		run := task.RunE
		task.RunE = func(c *cobra.Command, args []string) error {
			f.task = c
			return run(c, args)
		}
		c.AddCommand(task)
	}
	return c
}

// free are flags of tasks that may change when a run is gone on from: how long
// it is, and what is not about training.
var free = []string{"steps", "epochs", "from", "export"}

// settings are the flags that a run has to be gone on from with.
func (f *taskFlags) settings(dtype string) map[string]string {
	all := map[string]string{"dtype": cmp.Or(dtype, "f32")}
	f.task.LocalNonPersistentFlags().VisitAll(func(flag *pflag.Flag) {
		if !slices.Contains(free, flag.Name) && flag.Name != "help" {
			all[flag.Name] = flag.Value.String()
		}
	})
	return all
}

// check refuses flags that cannot be meant, before anything is computed.
func (f *taskFlags) check(a *app) error {
	if d := a.settings.dtype; d != "" && d != "f32" && d != "tf32" && d != "bf16" {
		return usagef("%s %s: training computes in f32, tf32 or bf16", a.said("dtype"), d)
	}
	if err := checkEmpty(f.task.Flags(), "a file or a folder", "out", "plot", "tensorboard", "from"); err != nil {
		return err
	}
	switch ext := filepath.Ext(f.plot); {
	case f.plot != "" && ext != ".png" && ext != ".svg":
		return usagef("--plot %s: use a name that ends in .png or .svg", f.plot)
	case f.every < 0:
		return usagef("--checkpoint-every %d: use at least 1", f.every)
	case f.plot != "" && !isFolder(filepath.Dir(f.plot)):
		return usagef("--plot %s: there is no folder %s", f.plot, filepath.Dir(f.plot))
	case f.out == "" && f.every > 0:
		return usagef("--checkpoint-every needs a folder: give --out")
	case f.out == "" && f.resume:
		return usagef("--resume needs a folder: give --out")
	case f.out == "":
		return nil
	}
	info, err := os.Stat(f.out)
	if err == nil && !info.IsDir() {
		return usagef("--out %s is no folder", f.out)
	}
	if err == nil {
		return a.checkOutput("out", f.weights())
	}
	return nil
}

// weights is the file of the final weights.
func (f *taskFlags) weights() string { return filepath.Join(f.out, "model.safetensors") }

// isFolder tells whether a file can be made there, as far as one sees before.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
