#!/bin/sh
# Installs rehome on 64-bit Linux:
#
#   curl -fsSL RELEASES/install.sh | sh
#
# It downloads the executable of this machine, checks its SHA-256, and puts it into /usr/local/bin (as root) or
# ~/.local/bin. It changes nothing else. A second run upgrades, or does nothing.
#
#   REHOME_FROM     where the files of a release are; a release's install.sh knows its own
#   REHOME_TO       the folder to install into
#   REHOME_KEYRING  a keyring for gpgv; then SHA256SUMS must have been signed with a key in it
set -eu

from=${REHOME_FROM:-@RELEASES@}
partial=

fail() {
  echo "Error: $1" >&2
  [ -z "${2:-}" ] || echo "Try: $2" >&2
  exit 1
}

has() {
  command -v "$1" >/dev/null 2>&1
}

# Puts what the address $1 has into the file $2.
download() {
  if has curl; then
    curl -fsSL --retry 2 --output "$2" "$1"
  elif has wget; then
    wget -q -O "$2" "$1"
  else
    fail "Neither curl nor wget was found." "install curl with your system's package manager"
  fi
}

# Fails on an x64 processor without the instructions of x86-64-v2, on which every start would end at once.
check_processor() {
  flags=$(sed -n 's/^flags[[:space:]]*: \(.*\)/ \1 /p' /proc/cpuinfo 2>/dev/null | head -n 1)
  [ -n "$flags" ] || return 0
  for flag in cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3; do
    case $flags in *" $flag "*) continue ;; esac
    remedy="use a machine whose processor was made after 2009"
    # What a virtual machine shows is a choice of its host, such as kvm64 of Proxmox.
    case $flags in *" hypervisor "*) remedy="set the CPU type of this virtual machine to host, and start it again" ;; esac
    fail "This processor has no $flag, and rehome needs x86-64-v2." "$remedy"
  done
}

# The name of this machine's executable among the files of a release.
name_here() {
  [ "$(uname -s)" = Linux ] || fail "rehome runs on Linux; this is $(uname -s)."
  case $(uname -m) in
  x86_64 | amd64)
    name=rehome-linux-x64
    check_processor
    ;;
  aarch64 | arm64) name=rehome-linux-arm64 ;;
  *) fail "rehome runs on x64 and arm64; this machine is $(uname -m)." ;;
  esac
  [ "$(getconf LONG_BIT 2>/dev/null || echo 64)" = 64 ] ||
    fail "This system has 32 bits, and rehome needs 64." "install the 64-bit edition of the system"
  for loader in /lib/ld-musl-*; do
    # Debian's package musl has a loader too, beside that of glibc.
    if [ -e "$loader" ] && [ ! -e /lib64/ld-linux-x86-64.so.2 ] && [ ! -e /lib/ld-linux-aarch64.so.1 ]; then
      name=$name-musl
      break
    fi
  done
  echo "$name"
}

# Where to install without REHOME_TO.
folder_here() {
  if [ "$(id -u)" = 0 ]; then
    echo /usr/local/bin
    return
  fi
  home=${HOME:-$(getent passwd "$(id -u)" 2>/dev/null | cut -d : -f 6)}
  [ -n "$home" ] || fail "HOME is not set." "REHOME_TO=FOLDER, for a folder that you may write to"
  echo "$home/.local/bin"
}

check() {
  sums=$partial/SHA256SUMS
  if [ -n "${REHOME_KEYRING:-}" ]; then
    has gpgv || fail "gpgv was not found, and REHOME_KEYRING asks for it." "install gpgv"
    download "$from/SHA256SUMS.asc" "$sums.asc" || fail "This release has no SHA256SUMS.asc."
    gpgv --quiet --keyring "$REHOME_KEYRING" "$sums.asc" "$sums" 2>/dev/null ||
      fail "The signature of SHA256SUMS is wrong. Nothing was installed."
  fi
  grep " [ *]\{0,1\}$1\$" "$sums" >"$partial/sum" || fail "SHA256SUMS of this release does not name $1."
  (cd "$partial" && sha256sum -c sum >/dev/null 2>&1) ||
    fail "The download of $1 is not what its SHA-256 says. Nothing was installed." "run it again; if it happens again, report it"
}

install_here() {
  case $from in @*) fail "REHOME_FROM does not say where a release is." "REHOME_FROM=https://HOST/releases/latest/download" ;; esac
  name=$(name_here)
  to=${REHOME_TO:-$(folder_here)} || exit 1
  file=$to/rehome
  mkdir -p "$to" || fail "$to cannot be made." "REHOME_TO=FOLDER, for a folder that you may write to"
  # In the same folder, so that the executable appears whole.
  partial=$(mktemp -d "$to/.rehome-XXXXXX") || fail "$to cannot be written to." "REHOME_TO=FOLDER, for a folder that you may write to"
  download "$from/SHA256SUMS" "$partial/SHA256SUMS" || fail "$from/SHA256SUMS cannot be downloaded." "look at the address, and at the network"
  if [ -f "$file" ] && grep -q "^$(sha256sum <"$file" | cut -d ' ' -f 1) [ *]\{0,1\}$name\$" "$partial/SHA256SUMS"; then
    echo "rehome $("$file" --version) is installed already, as $file."
    return
  fi
  echo "Downloading $name ..."
  download "$from/$name" "$partial/$name" || fail "$from/$name cannot be downloaded to $to." "look at the network and at the space on the disk (df -h $to)"
  check "$name"
  chmod 755 "$partial/$name"
  case $name in *-musl) remedy="apk add libstdc++" ;; *) remedy="uname -a, and report what both print" ;; esac
  version=$("$partial/$name" --version 2>"$partial/said") ||
    fail "The executable does not run here: $(cat "$partial/said")" "$remedy"
  mv -f "$partial/$name" "$file" || fail "$file cannot be replaced." "REHOME_TO=FOLDER, for a folder that you may write to"
  command=rehome
  case ":$PATH:" in *":$to:"*) ;; *) command=$file ;; esac
  echo "Installed rehome $version as $file."
  echo
  echo "Start it, with a first key:      $command serve --first-key"
  if [ "$(id -u)" = 0 ]; then
    echo "Or run it as a service at boot:  $command service install"
  else
    # A service cannot read what lies in somebody's home.
    echo "Or run it as a service at boot:  sudo install -m 755 $file /usr/local/bin/rehome && sudo rehome service install"
  fi
}

# In a function that is called last: a script that was cut off on the way does nothing.
trap '[ -z "$partial" ] || rm -rf "$partial"' EXIT
trap 'exit 1' HUP INT TERM
install_here
