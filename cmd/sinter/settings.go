package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sinterml/sinter/internal/device/compile"
)

// The environment variables that stand in for flags, or set what has none, and
// the one that names the configuration file.
const (
	envDevice      = "SINTER_DEVICE"
	envThreads     = "SINTER_THREADS"
	envCPU         = "SINTER_CPU"
	envNoOpt       = "SINTER_NOOPT"
	envRerankModel = "SINTER_RERANK_MODEL"
	envConfig      = "SINTER_CONFIG"
)

// flags are those that every command has.
type flags struct {
	device, dtype, model string
	threads              int
	json, quiet          bool
}

func (f *flags) register(set *pflag.FlagSet) {
	set.StringVar(&f.device, "device", "", "device to run on, as 'sinter device' lists them (default the best; $"+envDevice+")")
	set.IntVar(&f.threads, "threads", 0, "threads the cpu may use (default all; $"+envThreads+")")
	set.StringVar(&f.dtype, "dtype", "", "number format that products compute in: "+strings.Join(dtypeNames(), ", ")+" (default what the model asks for, else f32)")
	set.StringVar(&f.model, "model", "", "model: a folder, a file in it, or a name in the local hub cache (default "+defaultModelText+")")
	set.BoolVar(&f.json, "json", false, "print JSON")
	set.BoolVar(&f.quiet, "quiet", false, "no progress and no warnings")
}

// settings are what flags, environment and configuration file come to.
type settings struct {
	device  string   // "auto" for the best
	threads int      // 0: all
	isa     string   // instruction set of the cpu; "": the widest
	model   string   // "": the one in the binary
	dtype   string   // "": what the model asks for
	noOpt   []string // passes to leave out
	color   string   // "": auto
	json    bool
	quiet   bool
}

// isas are the instruction sets that a variable may name.
var isas = []string{"amx-fp16", "amx", "avx512", "avx2", "neon", "generic"}

// resolve fills the settings: a flag goes before its variable, that before the
// configuration file. A value that cannot be meant is an error that says where
// it stands.
func (a *app) resolve(cmd *cobra.Command) error {
	if err := a.fillFlags(cmd); err != nil {
		return err
	}
	s := settings{device: "auto", threads: a.flags.threads, model: a.flags.model, dtype: a.flags.dtype, json: a.flags.json, quiet: a.flags.quiet}
	set := cmd.Flags().Changed
	if set("device") {
		if err := checkDevice(a.flags.device); err != nil {
			return usagef("%s: %w", a.said("device"), err)
		}
		s.device = a.flags.device
	}
	if set("threads") && s.threads < 1 {
		return usagef("%s %d: use at least 1", a.said("threads"), s.threads)
	}
	if set("dtype") {
		if err := checkDType(a.said("dtype"), s.dtype); err != nil {
			return err
		}
	}
	if set("model") && s.model == "" {
		return usagef("%s is empty: give a folder, a file, or a name in the hub cache", a.said("model"))
	}
	var err error
	if s.isa = a.env(envCPU); s.isa != "" && !slices.Contains(isas, s.isa) {
		return usagef("%s: %q is no instruction set: use %s", envCPU, s.isa, strings.Join(isas, ", "))
	}
	if s.noOpt, err = parsePasses(a.env(envNoOpt)); err != nil {
		return usagef("%s: %w", envNoOpt, err)
	}
	a.settings = s
	return nil
}

// parsePasses splits a list of passes and refuses names that nobody knows.
func parsePasses(list string) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	names := strings.Split(list, ",")
	for i, n := range names {
		names[i] = strings.TrimSpace(n)
	}
	return names, compile.CheckSwitches(names)
}
