# Sets FairDesk up with what its tests need and runs them all. Arguments go to pytest.
. (Join-Path $PSScriptRoot "setup.ps1")
Initialize-FairDesk "requirements-test.txt"

Set-Location $Repo
$env:QT_QPA_PLATFORM = "offscreen"
# compiled once for the tests and all the processes that they start, instead of by each of them
$env:NUMBA_CACHE_DIR = & (Join-Path $Scripts "python.exe") -m fairdesk.audit.sandbox.kernel_cache
$env:NUMBA_CACHE_LOCATOR_CLASSES = "fairdesk.compiled.Locator"
& (Join-Path $Scripts "python.exe") -m pytest @args
exit $LASTEXITCODE
