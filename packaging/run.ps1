# Sets FairDesk up and opens it on the built-in sample audit.
. (Join-Path $PSScriptRoot "setup.ps1")
Initialize-FairDesk "requirements.txt"

$fairdesk = Join-Path $Scripts "fairdesk.exe"
$demo = Join-Path $Repo "demo-audit"
$audit = Join-Path $demo "audit.fairdesk"
if (-not (Test-Path $audit)) { Invoke-Checked $fairdesk demo --out $demo }
Invoke-Checked $fairdesk open $audit
