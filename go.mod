module github.com/sinterml/sinter

go 1.26.0

require (
	github.com/blevesearch/snowballstem v0.9.0
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.0.10
	go.etcd.io/bbolt v1.5.0
	golang.org/x/sys v0.49.0
	golang.org/x/term v0.47.0
	golang.org/x/text v0.43.0
)

require github.com/inconshreveable/mousetrap v1.1.0 // indirect
