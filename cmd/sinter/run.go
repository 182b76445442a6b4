package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
)

// Exit statuses, which scripts rely on.
const (
	statusDone        = 0
	statusFailed      = 1
	statusUsage       = 2
	statusInterrupted = 130
)

// app is one run of the command: where it reads and writes, and its settings.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	cobraOut       *rememberingWriter      // stdout, for help and the like
	env            func(key string) string // "" where a variable is not set
	flags          flags
	config         config            // the configuration file
	origins        map[string]origin // of the flags that are not as they are by default
	settings       settings          // what all these come to; set before a command runs
	terminal       bool              // stdout is one
}

// run is the whole command but for the process around it. It returns the exit
// status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, env func(string) string) int {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr, env: env, terminal: isTerminal(stdout)}
	root := a.root()
	root.SetArgs(slices.Concat([]string{}, args)) // not nil, for which cobra takes the process's own
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = a.cobraOut.err
	}
	return a.report(ctx, cmd, err)
}

// rememberingWriter keeps the first error, as cobra looks at none when it prints.
type rememberingWriter struct {
	io.Writer
	err error
}

func (w *rememberingWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if w.err == nil {
		w.err = err
	}
	return n, err
}

// report tells of an error in the way its kind asks for.
func (a *app) report(ctx context.Context, cmd *cobra.Command, err error) int {
	var usage *usageError
	switch {
	case err == nil:
		return statusDone
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return statusInterrupted
	case closedPipe(err): // whoever reads has seen enough
		return statusDone
	case errors.As(err, &usage):
		fmt.Fprintf(a.stderr, "sinter: %v\n%sRun '%s -h' for help.\n", err, a.fileHint(err), cmd.CommandPath())
		return statusUsage
	}
	fmt.Fprintf(a.stderr, "sinter: %s\n", printableLines(err.Error()))
	return statusFailed
}

// root builds the tree of commands.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "sinter",
		Short: "Machine learning models on this machine, from one binary",
		Long: `Sinter compiles tensor programs to machine code and runs them. This command
searches text by meaning, embeds it, and shows what the compiler does.`,
		Args: a.commandArgs,
		RunE: func(*cobra.Command, []string) error { return usagef("give a command") },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if standsAlone(cmd) {
				return nil
			}
			return a.resolve(cmd)
		},
		SilenceErrors: true,
		SilenceUsage:  true,

		SuggestionsMinimumDistance: 2, // edits
	}
	root.Version = readVersion().String()
	root.SetVersionTemplate("{{.Version}}")
	root.SetFlagErrorFunc(flagError)
	a.flags.register(root.PersistentFlags())
	root.AddCommand(a.searchCommand(), a.indexCommand(), a.embedCommand(), a.tokenizeCommand(), a.similarityCommand(), a.deviceCommand(), a.graphCommand(), a.tuneCommand(), a.benchCommand())
	if len(trainTasks) > 0 {
		root.AddCommand(a.trainCommand())
	}
	root.AddCommand(a.configCommand(), a.versionCommand(), a.manCommand(), a.probeCommand())
	root.SetHelpCommand(a.helpCommand())
	root.SetIn(a.stdin)
	a.cobraOut = &rememberingWriter{Writer: a.stdout}
	root.SetOut(a.cobraOut)
	root.SetErr(a.stderr)
	root.InitDefaultCompletionCmd() // keeps the output that it finds
	registerCompletions(root)
	a.completeCompletion(root)
	for _, c := range root.Commands() {
		wrapArgs(c)
	}
	return root
}

// standsAlone tells whether a command works whatever the settings, since it is
// what one needs to put them right.
func standsAlone(cmd *cobra.Command) bool {
	for ; cmd != nil; cmd = cmd.Parent() {
		switch cmd.Name() {
		case "help", "version", "man", "completion", probeName, cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd:
			return true
		}
	}
	return false
}

// helpCommand is cobra's, but for names of no command: a fault of usage.
func (a *app) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Explain a command",
		RunE: func(help *cobra.Command, args []string) error {
			c, rest, err := help.Root().Find(args)
			if err != nil {
				return &usageError{err}
			}
			if len(rest) > 0 && !c.HasSubCommands() {
				return usagef("%s has no command %q", c.CommandPath(), rest[0])
			}
			if err := a.commandArgs(c, rest); err != nil {
				return err
			}
			return c.Help()
		},
	}
}
