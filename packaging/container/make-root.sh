#!/bin/sh
# Assembles the root of the image in the folder $1, from the Debian system that this runs on: what the executable loads,
# an account without rights, and the two folders that it writes to.
set -eu
root=$1
mkdir -p "$root/etc" "$root/tmp" "$root/data" "$root/dev" "$root/proc"
for library in libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0; do
  found=$(ldconfig -p | awk -v name="$library" '$1 == name && /64/ {print $NF; exit}')
  mkdir -p "$root$(dirname "$found")"
  cp -L "$found" "$root$found"
done
for loader in /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1; do
  if [ -e "$loader" ]; then
    mkdir -p "$root$(dirname "$loader")"
    cp -L "$loader" "$root$loader"
  fi
done
echo 'rehome:x:65532:65532::/data:/nowhere' >"$root/etc/passwd"
echo 'rehome:x:65532:' >"$root/etc/group"
chmod 1777 "$root/tmp"
chown 65532:65532 "$root/data"
chmod 700 "$root/data"
