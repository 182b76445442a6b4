module github.com/sinterml/sinter

go 1.26
