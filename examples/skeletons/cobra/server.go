package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func server() (string, error) {
	folder, err := os.UserConfigDir()
	path := filepath.Join(folder, "todo/config.json")
	var config struct{ URL string }
	text, missing := os.ReadFile(path)
	if missing == nil {
		err = json.Unmarshal(text, &config)
	}
	if err != nil {
		return "", fail("config", "invalid_config", "%s is no JSON object: %s", path, err)
	}
	if url := os.Getenv("TODO_URL"); url != "" {
		config.URL = url
	}
	if !strings.HasPrefix(config.URL, "http") {
		return "", fail("config", "no_server", "'%s' is no address of a server; set TODO_URL, or `url` in %s", config.URL, path)
	}
	return config.URL, nil
}

func sync(*cobra.Command, []string) error {
	url, err := server()
	if err != nil {
		return err
	}
	token := []byte(os.Getenv("TODO_TOKEN"))
	if tokenFile != "" {
		if token, err = os.ReadFile(tokenFile); err != nil {
			return err
		}
	}
	if token = bytes.TrimSpace(token); len(token) == 0 {
		return fail("auth", "no_token", "there is no token; set TODO_TOKEN, or use --token-file")
	}
	tasks, err := load()
	if err != nil {
		return err
	}
	done := "would send"
	if !dryRun {
		done = "sent"
		out.Note("sending %d tasks to %s", len(tasks), url)
		body, _ := json.Marshal(tasks)
		request, err := http.NewRequest("POST", url+"/tasks", bytes.NewReader(body))
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "Bearer "+string(token))
		client := http.Client{Timeout: time.Duration(timeout) * time.Second}
		response, err := client.Do(request)
		if err != nil {
			return fail("general", "unreachable", "%s", err)
		}
		defer response.Body.Close()
		if response.StatusCode == 401 || response.StatusCode == 403 {
			return fail("auth", "rejected", "%s answers with %s", url, response.Status)
		} else if response.StatusCode >= 300 {
			return fail("general", "rejected", "%s answers with %s", url, response.Status)
		}
	}
	data := map[string]any{"sent": len(tasks), "dry_run": dryRun}
	return out.Data(data, fmt.Sprintf("%s %d tasks", done, len(tasks)), data)
}
