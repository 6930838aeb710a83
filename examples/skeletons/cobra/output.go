package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

const (
	formatText  = "text"
	formatJSON  = "json"
	formatJSONL = "jsonl"

	exitGeneral = 1
	exitUsage   = 2
	exitAuth    = 77
	exitConfig  = 78
)

var exitCodesOfKinds = map[string]int{"general": exitGeneral, "usage": exitUsage, "auth": exitAuth, "config": exitConfig}

// failure is an error with its kind, which sets the exit code.
type failure struct {
	Name      string `json:"error"`
	Kind      string `json:"kind"`
	Message   string `json:"message"`
	Retryable bool   `json:"retryable"`
}

func (f failure) Error() string { return f.Message }

func fail(kind, name, message string, values ...any) failure {
	return failure{name, kind, fmt.Sprintf(message, values...), name == "locked" || name == "unreachable"}
}

// OutputConfig prints data on stdout, and everything else on stderr.
type OutputConfig struct {
	Format string
	Quiet  bool
}

// Data prints data in the format of the call.
func (o OutputConfig) Data(data any, text string, records ...any) error {
	if o.Format == formatText {
		return o.Text(text)
	}
	if o.Format == formatJSON {
		records = []any{map[string]any{"ok": true, "data": data}}
	}
	for _, record := range records {
		if err := json.NewEncoder(os.Stdout).Encode(record); err != nil {
			return err
		}
	}
	return nil
}

// Text prints a text that is the same in each format.
func (o OutputConfig) Text(text string) error {
	if text != "" {
		text = strings.TrimRight(text, "\n") + "\n"
	}
	_, err := os.Stdout.WriteString(text)
	return err
}

// Writer is where libraries print data.
func (o OutputConfig) Writer() io.Writer { return os.Stdout }

// Note prints a remark for people.
func (o OutputConfig) Note(text string, values ...any) {
	if o.Format == formatText && !o.Quiet {
		fmt.Fprintf(os.Stderr, text+"\n", values...)
	}
}

// Fail prints an error in the format of the call, even if the call could not be parsed, and exits.
func (o OutputConfig) Fail(failed failure) {
	for _, word := range os.Args[1:] {
		switch word = strings.TrimPrefix(strings.TrimPrefix(word, "--output="), "--"); word {
		case formatJSON, formatJSONL:
			o.Format = word
		}
	}
	if o.Format == formatJSON || o.Format == formatJSONL {
		_ = json.NewEncoder(os.Stderr).Encode(failed)
	} else {
		fmt.Fprintln(os.Stderr, "todo: "+failed.Message)
	}
	os.Exit(exitCodesOfKinds[failed.Kind])
}
