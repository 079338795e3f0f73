// {{subject}}, {{version}}, breaks the rule "{{rule}}" with {{value}}. Expected: {{threshold}}.
//
// Copy this file into the root of a checkout of quic-go, and run `go test -run Judge_{{name}} .`. The test builds the
// checkout and plays the scenario, so it passes as soon as the checkout has a fix. It needs the program ccmatic.
package quic_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const scenario_{{name}} = `{{scenario}}`

func TestJudge_{{name}}(t *testing.T) {
	ccmatic, err := exec.LookPath("ccmatic")
	if err != nil {
		t.Skip("no ccmatic on this machine")
	}
	checkout, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "scenario.json")
	if err := os.WriteFile(file, []byte(scenario_{{name}}), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(ccmatic, "judge", "run", "{{subject}}", "--scenario", file, "{{option}}", "{{rule}}", "--source", checkout)
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}
