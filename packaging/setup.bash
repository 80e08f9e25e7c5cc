# shellcheck shell=bash
# What packaging/run, packaging/test and .ci/run share: from a bare machine to a filled .venv.
# Sourced, not run. Linux and macOS; Windows has setup.ps1.
set -euo pipefail

repo="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
venv="$repo/.venv"
bootstrap="$repo/.bootstrap"

# Debian's and Ubuntu's names of the libraries that Qt links to and its wheel does not bring.
qt_packages=(libegl1 libgl1 libxkbcommon0 libdbus-1-3 libfontconfig1 libglib2.0-0 fonts-dejavu-core)
window_packages=(libxcb-cursor0 libxcb-icccm4 libxcb-keysyms1 libxcb-shape0 libxkbcommon-x11-0)

say() { printf '%s\n' "$@" >&2; }
fail() {
  say "$@"
  exit 1
}

# Fills .venv with the locked packages and FairDesk itself. Quick when that was done before.
#   prepare run|test
prepare() {
  install_locked "$1"
  # The process that holds the model may write nothing, and would compile all of it at each start.
  "$venv/bin/python" -m compileall -q "$repo/fairdesk"
}

install_locked() {
  local kind=$1 lock=$repo/packaging/requirements.txt built=$repo/packaging/requirements-built.txt state
  [ "$kind" = run ] || lock=$repo/packaging/requirements-test.txt
  # The test lock holds all of the run lock, so an environment for tests serves both.
  state="$(cat "$repo/pyproject.toml" "$lock" "$built" | cksum)"
  if [ "$state" = "$(cat "$venv/.locked-$kind" 2>/dev/null)" ] && "$venv/bin/python" -c '' 2>/dev/null; then
    return
  fi
  find_python
  find_uv
  say "Setting up FairDesk in $venv (about 2 GB the first time) ..."
  "$uv" venv --quiet --clear --python "$python" "$venv"
  # Wheels only: no code of any package runs while it is installed. Compiled as FairDesk below.
  "$uv" pip sync --quiet --compile-bytecode --python "$venv" --require-hashes --only-binary :all: "$lock"
  # What has no wheel is built out of its locked source, by what was installed just now.
  "$uv" pip install --quiet --compile-bytecode --python "$venv" --require-hashes --no-deps \
    --no-build-isolation -r "$built"
  "$uv" pip install --quiet --python "$venv" --no-deps --no-build-isolation --editable "$repo"
  cat "$repo/pyproject.toml" "$repo/packaging/requirements.txt" "$built" | cksum >"$venv/.locked-run"
  printf '%s\n' "$state" >"$venv/.locked-$kind"
}

find_python() {
  local candidate
  for candidate in ${PYTHON:+"$PYTHON"} python3 python3.13 python3.12 python3.11 python; do
    if python="$(command -v "$candidate")" && "$python" -c \
      'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
      return
    fi
    [ "$candidate" != "${PYTHON:-}" ] || fail "PYTHON=$PYTHON is not Python 3.11, 3.12 or 3.13."
  done
  fail "FairDesk needs Python 3.11, 3.12 or 3.13, and none was found." \
    "Install one, or name it: PYTHON=/path/to/python packaging/run"
}

find_uv() {
  local version
  for uv in uv "$bootstrap/bin/uv"; do
    # what is in the environment goes with it when it is made anew
    [ "$(command -v "$uv")" != "$venv/bin/uv" ] || continue
    version="$("$uv" --version 2>/dev/null)" || continue
    version="${version#uv }"
    # --clear of `uv venv` came with 0.8
    if [ "$(printf '%s\n' 0.8.0 "${version%% *}" | sort -V | head -n 1)" = 0.8.0 ]; then
      return
    fi
  done
  say "Fetching uv, the installer, into $bootstrap ..."
  rm -rf "$bootstrap"
  local from=(install --quiet --disable-pip-version-check --root-user-action=ignore
    --require-hashes -r "$repo/packaging/requirements-uv.txt")
  if ! "$python" -c 'import ensurepip' 2>/dev/null && "$python" -m pip --version >/dev/null 2>&1; then
    "$python" -m pip "${from[@]}" --target "$bootstrap"
    return
  fi
  if ! "$python" -c 'import ensurepip' 2>/dev/null; then
    # Debian and Ubuntu ship Python without it
    local package
    package="$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')"
    apt_install "$package" ca-certificates ||
      fail "Python's venv module is incomplete and there is no pip." \
        "Install it and start again: sudo apt-get install $package"
  fi
  "$python" -m venv "$bootstrap"
  "$bootstrap/bin/python" -m pip "${from[@]}"
}

# Installs system packages where that can be done without asking anybody; else returns 1.
apt_install() {
  local root=()
  command -v apt-get >/dev/null || return 1
  if [ "$(id -u)" != 0 ]; then
    sudo -n true 2>/dev/null || return 1
    root=(sudo -n)
  fi
  say "Installing system packages: $*"
  local apt=(${root[@]+"${root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get -qq)
  "${apt[@]}" update >/dev/null || true # a broken source of somebody else's need not matter
  "${apt[@]}" install --yes --no-install-recommends "$@" >/dev/null
}

has_display() { [ "$(uname)" = Darwin ] || [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; }

# Brings the system libraries that Qt needs; returns 1, after naming them, where that is impossible.
prepare_qt() {
  [ "$(uname)" = Linux ] || return 0
  local missing=()
  qt_starts || missing+=("${qt_packages[@]}")
  [ -z "${DISPLAY:-}" ] || windows_open || missing+=("${window_packages[@]}")
  [ ${#missing[@]} != 0 ] || return 0
  if apt_install "${missing[@]}" && qt_starts && { [ -z "${DISPLAY:-}" ] || windows_open; }; then
    return 0
  fi
  say "Qt lacks system libraries. On Debian and Ubuntu, install them with:" \
    "  sudo apt-get install ${missing[*]}"
  return 1
}

# The real thing: does an application start?
qt_starts() {
  QT_QPA_PLATFORM=offscreen "$venv/bin/python" -c \
    'from PySide6.QtWidgets import QApplication; QApplication([])' >/dev/null 2>&1
}

# Qt's own message names xcb-cursor whatever is missing, so the linker is asked.
windows_open() {
  ! ldd "$venv"/lib/python3.*/site-packages/PySide6/Qt/plugins/platforms/libqxcb.so |
    grep -q 'not found'
}
