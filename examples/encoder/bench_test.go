package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/sinterml/sinter/bench"
)

// BenchmarkEncoder measures what `--json` does: the shares of this encoder and
// of the published one, which take turns.
func BenchmarkEncoder(b *testing.B) {
	for dtype := range precisions {
		b.Run(dtype, func(b *testing.B) {
			var report bench.Report
			for b.Loop() {
				var out bytes.Buffer
				if err := measure(context.Background(), &out, dtype); err != nil {
					b.Fatal(err)
				}
				if err := json.Unmarshal(out.Bytes(), &report); err != nil {
					b.Fatal(err)
				}
			}
			for _, r := range report.Results {
				b.ReportMetric(r.Share, fmt.Sprintf("%s-share-%d", r.Name, r.Threads))
			}
			b.ReportMetric(0, "ns/op") // of the measurement: no figure
		})
	}
}
