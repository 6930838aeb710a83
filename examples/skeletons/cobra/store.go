package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
)

const (
	store = "todo.json"
	lock  = "todo.json.lock"
)

type task struct {
	Name string `json:"name"`
	Note string `json:"note"`
}

func load() ([]task, error) {
	tasks := []task{}
	text, err := os.ReadFile(store)
	if errors.Is(err, fs.ErrNotExist) {
		return tasks, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &tasks)
	}
	return tasks, err
}

// save replaces or removes a task, and prints the result. The new file is the lock, until it is renamed.
func save(name, verb, done string, added ...task) error {
	var file *os.File
	var err error
	if !dryRun {
		file, err = os.OpenFile(lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if errors.Is(err, fs.ErrExist) {
			return fail("general", "locked", "another call changes %s; try again, or remove %s if there is none", store, lock)
		} else if err != nil {
			return err
		}
		defer os.Remove(lock)
		defer file.Close()
	}
	before, err := load()
	if err != nil {
		return err
	}
	after := []task{}
	for _, one := range before {
		if one.Name != name {
			after = append(after, one)
		}
	}
	after = append(after, added...)
	old, _ := json.Marshal(before)
	text, err := json.Marshal(after)
	changed := string(old) != string(text)
	if changed && !dryRun && err == nil {
		if _, err = file.Write(text); err == nil {
			err = os.Rename(lock, store)
		}
	}
	if err != nil {
		return err
	}
	if dryRun {
		done = "would " + verb
	}
	if !changed {
		done = "nothing to do"
	}
	data := map[string]any{"name": name, "changed": changed, "dry_run": dryRun}
	return out.Data(data, done+": "+name, data)
}
