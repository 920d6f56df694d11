#!/bin/sh
# make-tree.sh DIST OUT ADDRESS: an apt repository of the Debian packages in DIST, as files that any web server can serve at
# ADDRESS. It needs apt-ftparchive (apt-utils). rehome.sources is what a machine puts into /etc/apt/sources.list.d.
#
# With a secret key in this account's gpg it is signed, and the sources have the public key. Without one they say
# `Trusted: yes`, and HTTPS alone says that the files are the publisher's.
set -eu
dist=$1 out=$2 address=$3
mkdir -p "$out/pool/main/r/rehome" "$out/dists/stable/main"
cp "$dist"/*.deb "$out/pool/main/r/rehome/"
cd "$out"
architectures=
for package in pool/main/r/rehome/*.deb; do
  architecture=$(dpkg-deb --field "$package" Architecture)
  case " $architectures " in *" $architecture "*) continue ;; esac
  architectures="$architectures $architecture"
  folder=dists/stable/main/binary-$architecture
  mkdir -p "$folder"
  apt-ftparchive --arch "$architecture" packages pool >"$folder/Packages"
  gzip -9kn "$folder/Packages"
done
of() { echo "APT::FTPArchive::Release::$1"; }
apt-ftparchive -o "$(of Origin)=rehome" -o "$(of Label)=rehome" -o "$(of Suite)=stable" -o "$(of Codename)=stable" \
  -o "$(of Components)=main" -o "$(of Architectures)=${architectures# }" release dists/stable >Release
mv Release dists/stable/Release
trust="Trusted: yes"
if command -v gpg >/dev/null && [ -n "$(gpg --batch --list-secret-keys)" ]; then
  gpg --batch --yes --clearsign --output dists/stable/InRelease dists/stable/Release
  gpg --batch --yes --armor --detach-sign --output dists/stable/Release.gpg dists/stable/Release
  # An empty line would end the field.
  trust="Signed-By:
$(gpg --batch --armor --export | sed 's/^$/./; s/^/ /')"
fi
printf 'Types: deb\nURIs: %s\nSuites: stable\nComponents: main\n%s\n' "$address" "$trust" >rehome.sources
