# What run.ps1 and test.ps1 share: from a bare machine to a filled .venv. Dot-sourced, not run.
# The same steps as setup.bash, where the reasons are.
$ErrorActionPreference = "Stop"
$Repo = Split-Path -Parent $PSScriptRoot
$Venv = Join-Path $Repo ".venv"
$Scripts = Join-Path $Venv "Scripts"

function Invoke-Checked([string] $Program) {
    & $Program @args
    if ($LASTEXITCODE -ne 0) { throw "$Program ended with code $LASTEXITCODE." }
}

function Find-Python {
    $ErrorActionPreference = "Continue"  # what py says of a version that is missing is no error
    $fits = "import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))"
    foreach ($version in "-3.13", "-3.12", "-3.11") {
        if (Get-Command py -ErrorAction SilentlyContinue) {
            & py $version -c $fits 2>$null
            if ($LASTEXITCODE -eq 0) { return (& py $version -c "import sys; print(sys.executable)") }
        }
    }
    foreach ($candidate in $env:PYTHON, "python", "python3") {
        if ($candidate -and (Get-Command $candidate -ErrorAction SilentlyContinue)) {
            & $candidate -c $fits 2>$null
            if ($LASTEXITCODE -eq 0) { return (Get-Command $candidate).Source }
        }
    }
    throw "FairDesk needs Python 3.11, 3.12 or 3.13, and none was found."
}

function Initialize-FairDesk([string] $Lock) {
    $lockFile = Join-Path $PSScriptRoot $Lock
    $builtFile = Join-Path $PSScriptRoot "requirements-built.txt"
    $stamp = Join-Path $Venv ".locked-$Lock"
    $files = $lockFile, $builtFile, (Join-Path $Repo "pyproject.toml")
    $state = -join ($files | ForEach-Object { (Get-FileHash $_).Hash })
    if ((Test-Path $stamp) -and (Get-Content $stamp) -eq $state) { return }
    $python = Find-Python
    $bootstrap = Join-Path $Repo ".bootstrap"
    $uv = Join-Path $bootstrap "Scripts\uv.exe"
    if (-not (Test-Path $uv)) {
        Invoke-Checked $python -m venv $bootstrap
        Invoke-Checked (Join-Path $bootstrap "Scripts\python.exe") -m pip install --quiet `
            --require-hashes -r (Join-Path $PSScriptRoot "requirements-uv.txt")
    }
    Write-Host "Setting up FairDesk in $Venv (about 2 GB the first time) ..."
    Invoke-Checked $uv venv --quiet --clear --python $python $Venv
    Invoke-Checked $uv pip sync --quiet --compile-bytecode --python $Venv --require-hashes --only-binary :all: $lockFile
    Invoke-Checked $uv pip install --quiet --compile-bytecode --python $Venv --require-hashes --no-deps `
        --no-build-isolation -r $builtFile
    Invoke-Checked $uv pip install --quiet --python $Venv --no-deps --no-build-isolation --editable $Repo
    Set-Content $stamp $state
}
