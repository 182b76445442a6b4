package interp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// docTable is the table of operations as docs/ops.md must have it.
func docTable() string {
	classes := map[ir.Class]string{ir.ClassLeaf: "leaf", ir.ClassUnary: "pointwise", ir.ClassBinary: "pointwise", ir.ClassTernary: "pointwise",
		ir.ClassReduce: "reduction", ir.ClassMovement: "movement", ir.ClassIndexed: "indexed", ir.ClassAnchor: "anchor", ir.ClassStructure: "structure"}
	var b strings.Builder
	b.WriteString("| operation | kind | meaning |\n|---|---|---|\n")
	for _, op := range ir.Ops() {
		meaning := strings.ReplaceAll(op.Meaning(), "|", `\|`)
		fmt.Fprintf(&b, "| `%v` | %s | %s |\n", op, classes[op.Class()], meaning)
	}
	return b.String()
}

// The page lists every operation with the meaning that the op table gives.
func TestDocumentation(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "ops.md"))
	if err != nil {
		t.Fatal(err)
	}
	if table := docTable(); !strings.HasSuffix(string(page), "\n"+table) {
		t.Errorf("docs/ops.md does not end with the table of operations:\n%s", table)
	}
}
