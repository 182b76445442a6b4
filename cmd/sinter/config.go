package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The configuration file has a key for every flag, those of all commands at
// the top and those of one in a table of its name:
//
//	threads = 4
//	[search]
//	top = 20
//
// It is read into a struct made of the flags, so that the TOML library checks
// names and types and says at which line one is wrong.

// maxConfig bounds the file.
const maxConfig = 1 << 20

// configPath is the file, and whether it was named, so that it has to be there.
// It is "" where there is no home.
func (a *app) configPath() (path string, named bool) {
	if path := a.env(envConfig); path != "" {
		return path, true
	}
	dir := ""
	switch {
	case a.env("XDG_CONFIG_HOME") != "":
		dir = a.env("XDG_CONFIG_HOME")
	case runtime.GOOS == "windows":
		dir = a.env("AppData")
	case a.env("HOME") == "":
	case runtime.GOOS == "darwin":
		dir = filepath.Join(a.env("HOME"), "Library", "Application Support")
	default:
		dir = filepath.Join(a.env("HOME"), ".config")
	}
	if dir == "" {
		return "", false
	}
	return filepath.Join(dir, "sinter", "config.toml"), false
}

// config is what the file says: values as a flag reads them.
type config struct {
	path    string
	missing error                          // why it was not read
	values  map[string]map[string][]string // by path of the command ("" for all), then by flag
}

// readConfig reads the file, if there is one, against the flags of all commands.
func (a *app) readConfig(root *cobra.Command) (config, error) {
	path, named := a.configPath()
	c := config{path: path, values: map[string]map[string][]string{}}
	if path == "" {
		return c, nil
	}
	file, err := os.Open(path)
	switch {
	case err != nil && !named: // as where the home belongs to somebody else
		c.missing = err
		return c, nil
	case err != nil:
		return c, fmt.Errorf("configuration: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxConfig+1))
	switch {
	case err != nil:
		return c, fmt.Errorf("configuration: %w", err)
	case len(data) > maxConfig:
		return c, fmt.Errorf("configuration: %s has more than %d bytes", path, maxConfig)
	}
	// First as TOML alone: what is wrong with that is not for the flags to tell.
	if err := toml.Unmarshal(data, new(map[string]any)); err != nil {
		return c, &usageError{describeSyntax(path, err)}
	}
	into := reflect.New(tableType(root, rootFlags(root)))
	d := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields()
	if err := d.Decode(into.Interface()); err != nil {
		return c, &usageError{describe(root, path, err)}
	}
	c.collect(into.Elem(), "")
	return c, nil
}

// rootFlags are the flags of all commands.
func rootFlags(root *cobra.Command) *pflag.FlagSet { return root.PersistentFlags() }

// hasSetting tells whether a flag can stand in the file.
func hasSetting(f *pflag.Flag) bool { return f.Name != "help" && f.Name != "version" && !f.Hidden }

// tableType is the struct of a command's flags and the commands below it. A
// command of the name of a flag, device, has no flags of its own.
func tableType(c *cobra.Command, flags *pflag.FlagSet) reflect.Type {
	var fields []reflect.StructField
	add := func(name string, t reflect.Type) {
		fields = append(fields, reflect.StructField{
			Name: fmt.Sprintf("F%d", len(fields)),
			Type: t,
			Tag:  reflect.StructTag(fmt.Sprintf("toml:%q", name)),
		})
	}
	flags.VisitAll(func(f *pflag.Flag) {
		if hasSetting(f) {
			add(f.Name, settingType(f.Value.Type()))
		}
	})
	for _, sub := range c.Commands() {
		t := tableType(sub, sub.LocalFlags())
		if t.NumField() > 0 && flags.Lookup(sub.Name()) == nil {
			add(sub.Name(), t)
		}
	}
	return reflect.StructOf(fields)
}

// settingType is what a flag's value is in TOML. A pointer is nil where the
// file does not have it.
func settingType(flag string) reflect.Type {
	switch {
	case flag == "bool":
		return reflect.TypeFor[*bool]()
	case strings.HasPrefix(flag, "int"), strings.HasPrefix(flag, "uint"):
		return reflect.TypeFor[*int64]()
	case strings.HasPrefix(flag, "float"):
		return reflect.TypeFor[*float64]()
	case flag == "stringArray", flag == "stringSlice":
		return reflect.TypeFor[[]string]()
	}
	return reflect.TypeFor[*string]()
}

// collect takes the values out of a struct that has been read.
func (c config) collect(table reflect.Value, command string) {
	for i := range table.NumField() {
		name, v := table.Type().Field(i).Tag.Get("toml"), table.Field(i)
		var texts []string
		switch {
		case v.Kind() == reflect.Struct:
			c.collect(v, strings.TrimPrefix(command+" "+name, " "))
			continue
		case v.IsNil():
			continue
		case v.Kind() == reflect.Slice:
			texts = v.Interface().([]string)
		default:
			texts = []string{fmt.Sprint(v.Elem().Interface())}
		}
		if c.values[command] == nil {
			c.values[command] = map[string][]string{}
		}
		c.values[command][name] = texts
	}
}

// describe says which line of the file is wrong, and why.
func describe(root *cobra.Command, path string, err error) error {
	var missing *toml.StrictMissingError
	var decode *toml.DecodeError
	switch {
	case errors.As(err, &missing):
		e := missing.Errors[0]
		line, _ := e.Position()
		return fmt.Errorf("%s:%d: no setting %q%s", path, line, strings.Join(e.Key(), "."), settingHint(root, e.Key()))
	case errors.As(err, &decode):
		line, _ := decode.Position()
		name := strings.Join(decode.Key(), ".")
		if want := settingKind(root, decode.Key()); want != "" {
			return fmt.Errorf("%s:%d: %s wants %s", path, line, name, want)
		}
		// The library would print the struct, which nobody wrote.
		return fmt.Errorf("%s:%d: %s is a command: its settings stand below a line [%s]", path, line, name, name)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// describeSyntax says which line is no TOML.
func describeSyntax(path string, err error) error {
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		line, _ := decode.Position()
		return fmt.Errorf("%s:%d: %s", path, line, strings.TrimPrefix(decode.Error(), "toml: "))
	}
	return fmt.Errorf("%s: %w", path, err)
}

// settingKind is what the setting of a key takes; "" where there is none.
func settingKind(root *cobra.Command, key toml.Key) string {
	if len(key) == 0 {
		return ""
	}
	flags := rootFlags(root)
	if path := key[:len(key)-1]; len(path) > 0 {
		c, rest, err := root.Find(path)
		if err != nil || len(rest) > 0 {
			return ""
		}
		flags = c.LocalFlags()
	}
	f := flags.Lookup(key[len(key)-1])
	if f == nil {
		return ""
	}
	if kind := kindOf(f); kind != "a text" {
		return kind
	}
	if settingType(f.Value.Type()).Kind() == reflect.Slice {
		return `a list of texts, ["a", "b"]`
	}
	return "a text, in quotation marks"
}

// settingHint names the tables that have the setting, or where to look.
func settingHint(root *cobra.Command, key toml.Key) string {
	name := key[len(key)-1]
	if rootFlags(root).Lookup(name) != nil {
		return ": it stands above all tables"
	}
	var tables []string
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if f := c.LocalFlags().Lookup(name); f != nil && hasSetting(f) && c != root {
			tables = append(tables, "["+tableName(c)+"]")
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	if len(tables) > 0 {
		return ": it belongs into " + strings.Join(tables, " or ")
	}
	return ": settings are the names of flags, which 'sinter -h' and 'sinter COMMAND -h' list"
}

// tableName is the table of a command, such as bench.gemm.
func tableName(c *cobra.Command) string { return strings.ReplaceAll(commandKey(c), " ", ".") }

// commandKey is the path of a command below the root.
func commandKey(c *cobra.Command) string {
	_, key, _ := strings.Cut(c.CommandPath(), " ")
	return key
}
