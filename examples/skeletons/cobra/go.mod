module todo

go 1.19

require github.com/spf13/cobra v1.6.1
