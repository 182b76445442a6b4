package main

import (
	"reflect"
	"runtime"
	"strings"

	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/jit"
)

// describeCPU fills in what is known of the processor.
func describeCPU(row *deviceRow) {
	host := cpuid.Host()
	row.Name = strings.TrimSpace(host.Brand)
	if row.Name == "" {
		row.Name = runtime.GOARCH
	}
	row.Vendor = host.Vendor
	row.Driver = "machine code made at run time"
	if !jit.Available() || runtime.GOARCH != "amd64" {
		row.Driver = "go"
	}
	row.Memory, row.Free = memory()
	row.Features = cpuFeatures(host.Features)
}

// cpuFeatures lists the instruction sets that are there, by the names of the
// fields.
func cpuFeatures(f cpuid.Features) []string {
	names := []string{}
	v := reflect.ValueOf(f)
	for i := range v.NumField() {
		if v.Field(i).Bool() {
			names = append(names, strings.ToLower(v.Type().Field(i).Name))
		}
	}
	return names
}
