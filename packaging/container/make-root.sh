#!/bin/sh
# Assembles the root of the image in the folder $2: the executable $1, what it loads from this system (or, if it cannot run
# here, from the system in the folder $3), an account without rights, and the folders that it writes to.
set -eu
executable=$1
root=$2
system=${3:-}
mkdir -p "$root/etc" "$root/tmp" "$root/data" "$root/dev" "$root/proc"
if [ -z "$system" ]; then
  # Lines such as "libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x...)", and the loader's own.
  libraries=$(ldd "$executable" | sed -n 's#^[^/]*\(/[^ ]*\) (0x.*#\1#p')
else
  # Of a folder laid out as Alpine is.
  libraries="lib/$(basename "$system"/lib/ld-musl-*.so.1) usr/lib/libstdc++.so.6 usr/lib/libgcc_s.so.1"
fi
for library in $libraries; do
  mkdir -p "$root/$(dirname "$library")"
  cp -L "$system/$library" "$root/$library"
done
cp "$executable" "$root/rehome"
echo 'rehome:x:65532:65532::/data:/nowhere' >"$root/etc/passwd"
echo 'rehome:x:65532:' >"$root/etc/group"
chmod 755 "$root/rehome"
chmod 1777 "$root/tmp"
chown 65532:65532 "$root/data"
chmod 700 "$root/data"
