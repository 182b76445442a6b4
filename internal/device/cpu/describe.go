package cpu

import (
	"reflect"
	"runtime"
	"strings"

	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/device"
)

// Describe tells what is known of the processor.
func Describe() device.Properties {
	host := cpuid.Host()
	p := device.Properties{Description: strings.TrimSpace(host.Brand), Vendor: host.Vendor, Driver: "machine code made at run time",
		Rules:  []string{"subnormals", "exact-division", "exact-roots", "fma", "nan", "signed-zeros"},
		DTypes: []string{"f32", "bf16", "f16", "int8", "int4"}}
	if p.Description == "" {
		p.Description = runtime.GOARCH
	}
	if instructionSets(&host)[0] == Generic {
		p.Driver = "go"
	}
	p.Memory, p.Free = memory()
	p.Features = features(host.Features)
	return p
}

// features lists the instruction sets that are there, by the names of the
// fields.
func features(f cpuid.Features) []string {
	var names []string
	v := reflect.ValueOf(f)
	for i := range v.NumField() {
		if v.Field(i).Bool() {
			names = append(names, strings.ToLower(v.Type().Field(i).Name))
		}
	}
	return names
}
