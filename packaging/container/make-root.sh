#!/bin/sh
# Assembles the root of the image in the folder $1, from the Alpine system in the folder $2 or that this runs on: what the
# executable loads, an account without rights, and the two folders that it writes to.
set -eu
root=$1
system=${2:-}
mkdir -p "$root/etc" "$root/lib" "$root/usr/lib" "$root/tmp" "$root/data" "$root/dev" "$root/proc"
cp -L "$system"/lib/ld-musl-*.so.1 "$root/lib/"
cp -L "$system/usr/lib/libstdc++.so.6" "$system/usr/lib/libgcc_s.so.1" "$root/usr/lib/"
echo 'rehome:x:65532:65532::/data:/nowhere' >"$root/etc/passwd"
echo 'rehome:x:65532:' >"$root/etc/group"
chmod 1777 "$root/tmp"
chown 65532:65532 "$root/data"
chmod 700 "$root/data"
