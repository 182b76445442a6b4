package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commandArgs refuses what is no command, with the names that are close.
func (a *app) commandArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if args[0] == "" {
		return usagef("the name of a command is empty")
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return usagef("no command %q: did you mean %s?", args[0], strings.Join(near, " or "))
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return usagef("no command %q: there are %s", args[0], strings.Join(names, ", "))
}

// wrapArgs makes what a command says of its arguments a fault of usage.
func wrapArgs(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return &usageError{err}
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		wrapArgs(sub)
	}
}

// usageError is a command line, or a variable, that cannot be meant.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// noArgs is for commands that take flags alone.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no arguments: there is %q", cmd.CommandPath(), args[0])
	}
	return nil
}

// checkEmpty refuses flags that are given without a value, mostly that of a
// variable that is not set, where nothing would tell them from flags left out.
func checkEmpty(set *pflag.FlagSet, give string, names ...string) error {
	for _, name := range names {
		if f := set.Lookup(name); f != nil && f.Changed && f.Value.String() == "" {
			return usagef("--%s is empty: give %s", name, give)
		}
	}
	return nil
}

// flagError says in other words what is wrong with a flag.
func flagError(cmd *cobra.Command, err error) error {
	var value *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &value):
		return usagef("--%s %q: use %s", value.GetFlag().Name, value.GetValue(), kindOf(value.GetFlag()))
	case errors.As(err, &missing):
		return usagef("--%s is without a value: give %s", missing.GetFlag().Name, kindOf(missing.GetFlag()))
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return usagef("no flag -%s%s", unknown.GetSpecifiedName(), dashHint(cmd))
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		if near := nearFlag(cmd, name); near != "" {
			return usagef("no flag --%s: did you mean --%s?", name, near)
		}
		return usagef("no flag --%s%s", name, dashHint(cmd))
	}
	return &usageError{err}
}

// dashHint says how to give a text that looks like a flag to commands of texts.
func dashHint(cmd *cobra.Command) string {
	if strings.Contains(cmd.Use, "TEXT") || strings.Contains(cmd.Use, "QUERY") {
		return ": put -- before a text that begins with a dash"
	}
	return ""
}

// kindOf is what a flag, or its key in the configuration file, takes.
func kindOf(f *pflag.Flag) string {
	switch t := f.Value.Type(); {
	case t == "bool":
		return "true or false"
	case strings.HasPrefix(t, "int"), strings.HasPrefix(t, "uint"):
		return "a whole number"
	case strings.HasPrefix(t, "float"):
		return "a number"
	}
	return "a text"
}

// nearFlag is the flag that differs in letter case, or that name begins or is
// the beginning of, or that is one slip away; "" where there is none or more than
// one.
func nearFlag(cmd *cobra.Command, name string) string {
	var near, mistyped []string
	lower := strings.ToLower(name)
	if cmd.Flags().Lookup(lower) != nil {
		return lower
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		switch {
		case len(lower) < 2 || f.Hidden:
		case strings.HasPrefix(f.Name, lower) || strings.HasPrefix(lower, f.Name):
			near = append(near, f.Name)
		case len(lower) > 2 && oneSlip(f.Name, lower):
			mistyped = append(mistyped, f.Name)
		}
	})
	if len(near) == 0 {
		near = mistyped
	}
	if len(near) != 1 {
		return ""
	}
	return near[0]
}

// oneSlip tells whether a and b differ by a letter that is another, is missing or
// is too many, or by two side by side that changed places.
func oneSlip(a, b string) bool {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	swapped := len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
	return len(a) <= 1 && len(b) <= 1 || swapped
}
