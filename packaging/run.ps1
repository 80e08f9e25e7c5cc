# Sets FairDesk up and opens it: on the audit in demo-audit\, where there is one; else, at the first
# start, on the finished audit of the sample, and later on its start page.
. (Join-Path $PSScriptRoot "setup.ps1")
Initialize-FairDesk "requirements.txt"

$fairdesk = Join-Path $Scripts "fairdesk.exe"
$demo = Join-Path $Repo "demo-audit"
$audit = Join-Path $demo "audit.fairdesk"
if (Test-Path $audit) { Invoke-Checked $fairdesk open $audit } else { Invoke-Checked $fairdesk }
