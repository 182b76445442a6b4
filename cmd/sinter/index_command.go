package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	store "github.com/sinterml/sinter/cmd/sinter/internal/index"
)

func (a *app) indexCommand() *cobra.Command {
	var folder string
	c := &cobra.Command{
		Use:   "index",
		Short: "Show or prune what searches keep",
		Long: `Searches keep the vectors of passages in an index, so that only what is new is
embedded. These commands show what it holds, and forget what nobody needs.`,
		Args: a.commandArgs,
		RunE: func(*cobra.Command, []string) error { return usagef("give a command: status or prune") },
	}
	c.PersistentFlags().StringVar(&folder, "index", "", "folder of the index (default sinter/index in the user's cache folder)")
	c.AddCommand(a.indexStatusCommand(&folder), a.indexPruneCommand(&folder))
	return c
}

func (a *app) indexStatusCommand(folder *string) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show where the index is, how large it is and what it holds",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkEmpty(cmd.Flags(), "a folder", "index"); err != nil {
				return err
			}
			return a.indexStatus(cmd.Context(), *folder)
		},
	}
}

// indexStatus is what 'sinter index status --json' prints.
type indexStatus struct {
	Folder string         `json:"folder"`
	Bytes  int64          `json:"bytes"`
	Files  int            `json:"files"`
	Chunks int            `json:"chunks"`
	Models []store.Status `json:"models"` // with a number format each, the last used first
}

func (a *app) indexStatus(ctx context.Context, flag string) error {
	folder, err := a.indexFolder(flag)
	if err != nil {
		return fmt.Errorf("no index: %w", err)
	}
	s := indexStatus{Folder: folder}
	if s.Models, err = store.List(ctx, folder); err != nil {
		return err
	}
	for _, m := range s.Models {
		s.Bytes, s.Files, s.Chunks = s.Bytes+m.Bytes, s.Files+m.Files, s.Chunks+m.Chunks
	}
	if a.settings.json {
		return a.printJSON(s)
	}
	return a.printStatus(s)
}

func (a *app) printStatus(s indexStatus) error {
	out := newLines(a.stdout)
	style := a.style()
	fmt.Fprintf(out, "%s: %s\n", printable(s.Folder), size(s.Bytes))
	now := time.Now()
	for _, m := range s.Models {
		fmt.Fprintf(out, "\n%s %s: %s, %s, %s\n", style.paint(bold, printable(m.Model)), m.DType, count(m.Files, "file"), count(m.Chunks, "passage"), size(m.Bytes))
		if m.Damage != "" {
			fmt.Fprintf(out, "  damaged, the next search mends it: %s\n", printable(m.Damage))
			continue
		}
		fmt.Fprintf(out, "  used %s", ago(now.Sub(m.Used)))
		if !m.Made.IsZero() {
			fmt.Fprintf(out, ", begun %s", ago(now.Sub(m.Made)))
		}
		fmt.Fprintln(out)
		for _, r := range m.Roots {
			fmt.Fprintf(out, "  %s  %s\n", printable(r.Path), style.paint(dim, "indexed "+ago(now.Sub(r.Used))))
		}
	}
	return out.Flush()
}

// size says a number of bytes as one would.
func size(bytes int64) string {
	const unit = 1000
	if bytes < unit {
		return fmt.Sprintf("%d bytes", bytes)
	}
	n, name := float64(bytes)/unit, "kB"
	for _, next := range []string{"MB", "GB", "TB"} {
		if n < unit {
			break
		}
		n, name = n/unit, next
	}
	return fmt.Sprintf("%.1f %s", n, name)
}

func ago(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return "just now"
	case d < 2*day:
		return about(d) + " ago"
	}
	return fmt.Sprintf("%d days ago", d/day)
}

func (a *app) indexPruneCommand(folder *string) *cobra.Command {
	var all bool
	days := int(store.DefaultKeep / (24 * time.Hour))
	c := &cobra.Command{
		Use:   "prune",
		Short: "Forget files that are gone and vectors that nothing needs",
		Long: `Prune forgets files that are gone. Vectors that no file needs any more, and
models that nobody searched with, stay for --days, so that branches can come and
go. Then it makes the index smaller. Searches may go on meanwhile.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkEmpty(cmd.Flags(), "a folder", "index"); err != nil {
				return err
			}
			if days < 0 {
				return usagef("--days %d: use at least 0", days)
			}
			return a.indexPrune(cmd.Context(), *folder, store.PruneOptions{
				Keep: time.Duration(days) * 24 * time.Hour, All: all,
				Warn: func(message string) { a.warn("%s", message) },
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "forget everything")
	c.Flags().IntVar(&days, "days", days, "keep what was needed within so many days; 0 keeps only what files need now")
	return c
}

func (a *app) indexPrune(ctx context.Context, flag string, o store.PruneOptions) error {
	folder, err := a.indexFolder(flag)
	if err != nil {
		return fmt.Errorf("no index: %w", err)
	}
	p, err := store.Prune(ctx, folder, o)
	if err != nil {
		return err
	}
	if a.settings.json {
		return a.printJSON(p)
	}
	out := newLines(a.stdout)
	fmt.Fprintf(out, "forgot %s, %s and %s: %s\n", count(p.Spaces, "model"), count(p.Files, "file"), count(p.Chunks, "passage"), size(p.Bytes))
	return out.Flush()
}
