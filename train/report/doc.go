// Package report shows what a run of package train comes to: as a plot, as a
// drawn confusion matrix, and as files that TensorBoard reads.
package report
