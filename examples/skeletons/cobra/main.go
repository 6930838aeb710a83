// Keeps a list of tasks in todo.json of the current folder.
package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const (
	exitCodes = `

Exit codes:
  0   success
  1   the command failed
  2   wrong arguments
  77  no token, or the server rejects it
  78  the configuration is missing or invalid`
)

var (
	//go:embed todo.schema.json
	schema string
	//go:embed SKILL.md
	skill string
	// The options of the commands.
	out                                                           = OutputConfig{Format: formatText}
	note, tokenFile                                               string
	jsonFlag, jsonlFlag, verbose, noInput, dryRun, yes, shortHelp bool
	limit, timeout                                                int
)

func list(*cobra.Command, []string) error {
	tasks, err := load()
	if limit < 1 {
		err = fail("usage", "usage", "--limit takes a number from 1, not %d", limit)
	}
	if err != nil {
		return err
	}
	if verbose {
		out.Note("read %d tasks from %s", len(tasks), store)
	}
	items := tasks
	if len(tasks) > limit {
		items = tasks[:limit]
		defer out.Note("%d of %d tasks; --limit shows more", limit, len(tasks))
	}
	text, records := "", []any{}
	for _, one := range items {
		text += one.Name + "  " + one.Note + "\n"
		records = append(records, one)
	}
	return out.Data(map[string]any{"items": items, "truncated": len(tasks) > limit}, text, records...)
}

func show(_ *cobra.Command, args []string) error {
	tasks, err := load()
	for _, one := range tasks {
		if one.Name == args[0] {
			return out.Data(one, one.Name+"  "+one.Note, one)
		}
	}
	if err == nil {
		err = fail("general", "not_found", "there is no task '%s'; `todo list` shows all tasks", args[0])
	}
	return err
}

func add(_ *cobra.Command, args []string) error {
	return save(args[0], "add", "added", task{args[0], note})
}

func isTerminal(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func remove(_ *cobra.Command, args []string) error {
	if !yes && !dryRun {
		if noInput || !isTerminal(os.Stdin) || !isTerminal(os.Stderr) {
			return fail("usage", "unconfirmed", "nothing is removed; --yes removes '%s'", args[0])
		}
		fmt.Fprintf(os.Stderr, "Remove '%s'? [y/N] ", args[0])
		answer := ""
		if fmt.Scanln(&answer); answer != "y" {
			return fail("general", "cancelled", "nothing is removed")
		}
	}
	return save(args[0], "remove", "removed")
}

func installSkill(*cobra.Command, []string) error {
	home, err := os.UserHomeDir()
	path := filepath.Join(home, ".agents/skills/todo/SKILL.md")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path, []byte(skill), 0o644)
	}
	if err != nil {
		return err
	}
	return out.Data(map[string]any{"path": path}, path, map[string]any{"path": path})
}

// completions prints the script that cobra generates for a shell.
func completions(cmd *cobra.Command, args []string) error {
	switch args[0] {
	case "bash":
		return cmd.Root().GenBashCompletionV2(out.Writer(), true)
	case "zsh":
		return cmd.Root().GenZshCompletion(out.Writer())
	}
	return cmd.Root().GenFishCompletion(out.Writer(), true)
}

// command adds a command. Its errors about arguments are usage errors.
func command(root *cobra.Command, use, short, example string, run func(*cobra.Command, []string) error) *cobra.Command {
	args := cobra.ExactArgs(len(strings.Fields(use)) - 1)
	cmd := &cobra.Command{Use: use, Short: short, Example: "  todo " + example, RunE: run}
	cmd.Args = func(cmd *cobra.Command, words []string) error {
		if shortHelp {
			return pflag.ErrHelp
		}
		if err := args(cmd, words); err != nil {
			return fail("usage", "usage", "%s: %s", cmd.UseLine(), err)
		}
		return nil
	}
	root.AddCommand(cmd)
	return cmd
}

func main() {
	root := &cobra.Command{Use: "todo", Short: "Keep a list of tasks in todo.json of the current folder", Version: "1.0.0"}
	root.Long = root.Short + "." + exitCodes
	root.Example = "  todo list --output json\n  todo remove milk --yes"
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return fail("usage", "usage", "%s", err) })
	root.Flags().BoolP("version", "V", false, "show the version")
	flags := root.PersistentFlags()
	flags.StringVarP(&out.Format, "output", "o", formatText, "format of the output: text, json or jsonl")
	flags.BoolVar(&jsonFlag, "json", false, "short for --output json")
	flags.BoolVar(&jsonlFlag, "jsonl", false, "short for --output jsonl")
	flags.BoolVarP(&out.Quiet, "quiet", "q", false, "print data and errors only")
	flags.BoolVarP(&verbose, "verbose", "v", false, "print more details")
	flags.BoolVar(&noInput, "no-input", false, "ask no questions")
	flags.Bool("help", false, "show this help")
	flags.BoolVarP(&shortHelp, "usage", "h", false, "show the usage")
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if shortHelp {
			_ = out.Text("Usage: " + cmd.UseLine() + "\n\n" + cmd.CommandPath() + " --help explains the options")
		} else {
			help(cmd, args)
		}
	})
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if jsonFlag {
			out.Format = formatJSON
		} else if jsonlFlag {
			out.Format = formatJSONL
		}
		switch out.Format {
		case formatText, formatJSON, formatJSONL:
			return nil
		}
		return fail("usage", "usage", "--output takes text, json or jsonl, not '%s'", out.Format)
	}

	command(root, "list", "List the tasks", "list --limit 2", list).Flags().IntVar(&limit, "limit", 10, "print at most this number of tasks")
	command(root, "show NAME", "Show a task", "show milk", show)
	adding := command(root, "add NAME", "Add or replace a task", "add milk --note 'two bottles'", add)
	adding.Flags().StringVar(&note, "note", "", "text of the task")
	removing := command(root, "remove NAME", "Remove a task", "remove milk --yes", remove)
	removing.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask for a confirmation")
	syncing := command(root, "sync", "Send the tasks to a server (TODO_URL, TODO_TOKEN)", "sync --dry-run", sync)
	syncing.Flags().StringVar(&tokenFile, "token-file", "", "read the token from a file")
	syncing.Flags().IntVar(&timeout, "timeout", 10, "time limit in seconds")
	for _, cmd := range []*cobra.Command{adding, removing, syncing} {
		cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what would change")
	}
	command(root, "schema", "Print the JSON Schema of the output", "schema", func(*cobra.Command, []string) error { return out.Text(schema) })
	command(root, "completions SHELL", "Print a completion script for bash, zsh or fish", "completions bash", completions)
	command(root, "install-skill", "Install the instructions for agents", "install-skill", installSkill)

	err := root.Execute()
	if err == nil || errors.Is(err, syscall.EPIPE) {
		return
	}
	var failed failure
	if !errors.As(err, &failed) {
		failed = fail("general", "failed", "%s", err)
		if strings.HasPrefix(err.Error(), "unknown command") {
			failed.Kind = "usage"
		}
	}
	out.Fail(failed)
}
