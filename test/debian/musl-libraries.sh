#!/bin/sh
# Puts into the folder $1, laid out as on Alpine, what its packages musl, libgcc and libstdc++ bring to a musl executable:
# the loader as Debian has it, and GCC's two libraries, built for musl from Debian's package of GCC's source. apt checks the
# signatures of all that is fetched. Takes half a minute.
set -eu
cpu=x86_64
mkdir -p "$1/lib" "$1/usr/lib"
out=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

apt-get -qq update
mkdir deb
(cd deb && apt-get -qq -o APT::Sandbox::User=root download gcc-12-source musl musl-dev)
for package in deb/*.deb; do dpkg-deb -x "$package" system; done
musl=$work/system/usr/lib/$cpu-linux-musl
specs=$musl/musl-gcc.specs
sed -i "s#/usr/#$work/system/usr/#g" "$specs"
ln -sf "$work/system/lib/$cpu-linux-musl/libc.so" "$musl/libc.so"
cp -L "$musl/libc.so" "$out/lib/ld-musl-$cpu.so.1"

tar xf system/usr/src/gcc-12/gcc-12*.tar.xz --exclude='*/testsuite/*/*' --exclude='*/gcc/*/*' \
  --exclude='*/libgo/*' --exclude='*/libphobos/*' --exclude='*/libsanitizer/*'
gcc_source=$(echo "$work"/gcc-12*)
ln -s gthr-posix.h "$gcc_source/libgcc/gthr-default.h"
export CC="$cpu-linux-gnu-gcc -specs $specs"
export CXX="$cpu-linux-gnu-g++ -specs $specs -nostdinc++"
arithmetic=$($CC -print-libgcc-file-name)
objects=$(dirname "$arithmetic")

# libgcc_s: the unwinder, with the few headers that a build of the whole compiler would have made for it.
mkdir unwind build
cd unwind
cp "$gcc_source/libgcc/unwind-generic.h" unwind.h
# What md-unwind-support.h lacks here is the way through a signal handler's frame, where nothing throws.
touch tconfig.h coretypes.h libgcc_tm.h md-unwind-support.h
echo '#define DWARF_REG_TO_UNWIND_COLUMN(number) (number)' >tm.h
cat >tsystem.h <<'END'
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#define ATTRIBUTE_UNUSED __attribute__((unused))
#define gcc_assert(condition) ((condition) ? (void)0 : abort())
#define gcc_unreachable() abort()
END
for name in unwind-dw2 unwind-dw2-fde-dip; do
  $CC -O2 -fPIC -w -fexceptions -fbuilding-libgcc -DIN_LIBGCC2 -DHAVE_LD_EH_FRAME_HDR -DTARGET_DL_ITERATE_PHDR \
    -I. -I"$gcc_source/libgcc" -I"$gcc_source/include" -c "$gcc_source/libgcc/$name.c"
done
$CC -shared -nostdlib -Wl,-soname,libgcc_s.so.1 -Wl,-z,defs -Wl,--eh-frame-hdr ./*.o "$arithmetic" \
  -L"$musl" -lc -o "$out/usr/lib/libgcc_s.so.1"

# libstdc++: what Bun takes of it, and what that takes. All of it would be minutes of a processor. If a later Bun takes more,
# the loader names it.
cd ../build
CFLAGS="-O1 -fPIC" CXXFLAGS="-O1 -fPIC" "$gcc_source/libstdc++-v3/configure" --prefix=/usr \
  --build=x86_64-linux-gnu --host=$cpu-linux-musl --disable-multilib --disable-nls --disable-libstdcxx-pch >log 2>&1 ||
  { tail -n 20 log >&2 && exit 1; }
objects_in() {
  folder=$1
  shift
  make -j"$(nproc)" -C "$folder" $(printf '%s.lo ' "$@") >>log 2>&1 || { tail -n 20 log >&2 && exit 1; }
}
make -C include >>log 2>&1
make -j"$(nproc)" -C libsupc++ >>log 2>&1
objects_in src/c++98 list stdexcept tree
objects_in src/c++11 chrono condition_variable cow-stdexcept cow-string-inst cxx11-stdexcept debug functexcept functional \
  hashtable_c++0x mutex random shared_ptr snprintf_lite sso_string string-inst system_error
$CXX -shared -nostdlib -Wl,-soname,libstdc++.so.6 -Wl,-z,defs -Wl,--eh-frame-hdr -Wl,-O1 -Wl,--gc-sections -s \
  "$musl/crti.o" "$objects/crtbeginS.o" -Wl,--whole-archive libsupc++/.libs/libsupc++convenience.a \
  -Wl,--no-whole-archive src/c++98/*.o src/c++11/*.o "$out/usr/lib/libgcc_s.so.1" "$arithmetic" \
  -L"$musl" -lc "$objects/crtendS.o" "$musl/crtn.o" -o "$out/usr/lib/libstdc++.so.6"
