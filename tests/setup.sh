# Shared by tests/run and examples/run: `source tests/setup.sh`, then `setup` and `build TARGET...`.
# Installs only what is missing (Debian or Ubuntu packages, a Python environment in build/venv) and builds into build/.
# Safe to repeat; one run at a time holds the lock.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=$top/build/venv
torch_version=2.13.0

say() { printf '== %s\n' "$*"; }
die() { printf 'error: %s\n' "$*" >&2; exit 2; }

# An own job for apt-get: as root, or through sudo where it asks for nothing or a person can answer.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then sudo "$@"
  else return 1; fi
}

apt_install() {
  [ $# -gt 0 ] || return 0
  command -v apt-get >/dev/null || die "please install: $* (the names are Debian's; this system has no apt-get)"
  say "installing $*"
  as_root true || die "please install as root: apt-get install $*"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 update
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=300 install --no-install-recommends "$@" >/dev/null
}

version_at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# A Python can serve if it is new enough, makes environments and brings the headers for an extension.
python_serves() {
  "$1" - <<'PY' >/dev/null 2>&1
import ensurepip, os, sys, sysconfig, venv
assert sys.version_info >= (3, 11)
assert os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))
PY
}

find_python() {
  local candidate
  for candidate in ${PYTHON:-} python3 /usr/bin/python3 python3.13 python3.12 python3.11; do
    if python_serves "$candidate"; then command -v "$candidate"; return; fi
  done
  return 1
}

find_compiler() {
  local candidate
  for candidate in ${CXX:-} g++ g++-14 g++-13 g++-12; do
    command -v "$candidate" >/dev/null || continue
    if version_at_least "$("$candidate" -dumpfullversion -dumpversion)" 12 || [ "$candidate" = "${CXX:-}" ]; then
      command -v "$candidate"; return
    fi
  done
  return 1
}

install_packages() {
  local missing=() package
  find_compiler >/dev/null || missing+=(g++)
  command -v ninja >/dev/null || missing+=(ninja-build)
  command -v cmake >/dev/null || missing+=(cmake)
  find_python >/dev/null || missing+=(python3 python3-venv python3-dev)
  if command -v dpkg-query >/dev/null; then
    for package in libboost-dev libmpfr-dev libgmp-dev libeigen3-dev libopenblas-dev libcli11-dev nlohmann-json3-dev libzip-dev \
        doctest-dev pkg-config; do
      case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) in
        installed) ;;
        *) [ "$package" = pkg-config ] && command -v pkg-config >/dev/null || missing+=("$package") ;;
      esac
    done
  fi
  apt_install "${missing[@]}"
  # Older releases call the right versions by number.
  find_compiler >/dev/null || apt_install g++-12
  find_python >/dev/null || apt_install python3.11 python3.11-venv python3.11-dev
  find_compiler >/dev/null || die "no g++ 12 or newer found"
  find_python >/dev/null || die "no Python 3.11 or newer with venv and headers found"
}

has_module() { "$venv/bin/python" -c "import $1" >/dev/null 2>&1; }
pip_install() { "$venv/bin/python" -m pip --disable-pip-version-check install -qq "$@"; }

# A CPU build is enough and far smaller: one that pip is set up to find, else PyTorch's own CPU index, else what there is.
install_torch() {
  has_module torch && return
  say "installing PyTorch (CPU)"
  pip_install "torch==$torch_version+cpu" 2>/dev/null ||
    pip_install "torch==$torch_version" --index-url https://download.pytorch.org/whl/cpu --retries 1 2>/dev/null ||
    pip_install "torch==$torch_version" || pip_install torch || die "PyTorch cannot be installed: the tests compare with it"
}

make_environment() {
  local python; python=$(find_python)
  "$venv/bin/python" -c 'import sys; assert sys.version_info >= (3, 11)' 2>/dev/null || {
    say "making build/venv with $("$python" --version)"
    local site=()
    "$python" -c 'import torch' >/dev/null 2>&1 && site=(--system-site-packages)  # an installed PyTorch is used
    "$python" -m venv --clear "${site[@]}" "$venv"
  }
  local missing=() requirement
  for requirement in numpy ml_dtypes 'pybind11>=2.12' pytest mpmath matplotlib jax pygments expecttest; do
    has_module "${requirement%%>*}" || missing+=("$requirement")
  done
  [ ${#missing[@]} = 0 ] || { say "installing ${missing[*]} into build/venv"; pip_install "${missing[@]}"; }
  install_torch
  # Its interpreter runs a kernel in the tests; there are no packages for some systems, and those tests are then skipped.
  has_module triton || { say "installing Triton"; pip_install triton 2>/dev/null || say "Triton cannot be installed: its kernel is not checked"; }
  # `import erx` works in this environment: the package is built into build/python.
  echo "$top/build/python" > "$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/erx.pth"
  version_at_least "$(cmake --version | sed -n 's/^cmake version //p')" 3.25 || has_module cmake || pip_install 'cmake>=3.25'
}

setup() {
  mkdir -p "$top/build"
  exec 9>"$top/build/.lock"
  flock 9
  install_packages
  make_environment
}

cmake_command() {
  if [ -x "$venv/bin/cmake" ]; then "$venv/bin/cmake" "$@"; else cmake "$@"; fi
}

# One compiler process takes up to 2 GB: as many as there are cores and memory for.
jobs_that_fit() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/MemAvailable/ { print int($2 / 2000000) }' /proc/meminfo)
  [ "$memory" -ge 1 ] || memory=1
  echo $((cores < memory ? cores : memory))
}

build() {
  local cache=$top/build/CMakeCache.txt target arguments=()
  # A build folder that came with a copied tree describes the other place.
  if [ -f "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$top" "$cache"; then rm -rf "$cache" "$top/build/CMakeFiles"; fi
  for target in "$@"; do arguments+=(--target "$target"); done
  say "building"
  cmake_command -S "$top" -B "$top/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$(find_compiler)" \
    -DPython_EXECUTABLE="$venv/bin/python" --log-level=WARNING -Wno-dev >/dev/null
  cmake_command --build "$top/build" --parallel "$(jobs_that_fit)" "${arguments[@]}"
}
