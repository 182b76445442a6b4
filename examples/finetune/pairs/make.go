//go:build ignore

// Make writes pairs of Go functions and what their documentation says, from
// the standard library of the Go that runs it, to train.tsv and heldout.tsv.
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Packages to train with, and others to judge by.
var files = map[string]string{
	"train.tsv": "archive/tar archive/zip bufio cmp compress/gzip container/heap container/list context crypto/hmac crypto/rand crypto/sha256 crypto/x509 database/sql debug/elf encoding/base64 encoding/binary encoding/csv " +
		"encoding/hex encoding/json encoding/pem errors flag fmt go/ast go/token html html/template image io io/fs log log/slog maps math/big math/bits math/rand/v2 mime mime/multipart net net/http net/mail net/netip net/url " +
		"os/exec os/signal path/filepath reflect regexp runtime runtime/debug slices sort sync sync/atomic testing text/scanner text/tabwriter text/template unicode/utf16",
	"heldout.tsv": "bytes strconv time os math unicode encoding/xml go/types net/textproto hash/crc32 image/color text/template/parse",
}

func main() {
	for name, list := range files {
		var out bytes.Buffer
		for _, pkg := range strings.Fields(list) {
			if err := write(&out, pkg); err != nil {
				log.Fatal(err)
			}
		}
		if err := os.WriteFile(name, out.Bytes(), 0o666); err != nil {
			log.Fatal(err)
		}
	}
}

func write(out *bytes.Buffer, pkg string) error {
	fset := token.NewFileSet()
	own := func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }
	parsed, err := parser.ParseDir(fset, filepath.Join(runtime.GOROOT(), "src", pkg), own, parser.ParseComments)
	if err != nil {
		return err
	}
	p := parsed[filepath.Base(strings.TrimSuffix(pkg, "/v2"))]
	if p == nil {
		return fmt.Errorf("no package in %s", pkg)
	}
	d := doc.New(p, pkg, 0)
	all := d.Funcs
	for _, t := range d.Types {
		all = append(append(all, t.Funcs...), t.Methods...)
	}
	for _, f := range all {
		says := d.Synopsis(f.Doc)
		says, ok := strings.CutPrefix(says, f.Name+" ")
		if !ok || len(strings.Fields(says)) < 6 || strings.Contains(says, "Deprecated") {
			continue
		}
		fmt.Fprintf(out, "%s\t%s\n", signature(fset, d.Name, f), says)
	}
	return nil
}

// signature is a declaration on one line, after its package.
func signature(fset *token.FileSet, pkg string, f *doc.Func) string {
	var b bytes.Buffer
	decl := *f.Decl
	decl.Doc, decl.Body = nil, nil
	if err := printer.Fprint(&b, fset, ast.Node(&decl)); err != nil {
		log.Fatal(err)
	}
	return "package " + pkg + ": " + strings.Join(strings.Fields(b.String()), " ")
}
