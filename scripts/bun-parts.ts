/**
 * What Bun 1.4 links into every executable that it makes, as Bun's own LICENSE.md lists it for
 * Linux (https://github.com/oven-sh/bun/blob/main/LICENSE.md), and SQLite, which that file leaves
 * out: it is in the public domain.
 */
interface LinkedPart {
  readonly name: string;
  /** An SPDX expression. */
  readonly license: string;
  readonly url: string;
}

const part = (name: string, license: string, url: string): LinkedPart => ({ name, license, url });

export const linkedParts: readonly LinkedPart[] = [
  part("JavaScriptCore and WebKit", "LGPL-2.0-or-later", "https://github.com/oven-sh/webkit"),
  part("boringssl", "OpenSSL AND ISC AND MIT", "https://boringssl.googlesource.com/boringssl/"),
  part("brotli", "MIT", "https://github.com/google/brotli"),
  part("libarchive", "BSD-2-Clause", "https://github.com/libarchive/libarchive"),
  part("lol-html", "BSD-3-Clause", "https://github.com/cloudflare/lol-html"),
  part("ls-hpack", "MIT", "https://github.com/litespeedtech/ls-hpack"),
  part("ls-qpack", "MIT", "https://github.com/litespeedtech/ls-qpack"),
  part("lsquic", "MIT AND BSD-3-Clause", "https://github.com/litespeedtech/lsquic"),
  part("mimalloc", "MIT", "https://github.com/microsoft/mimalloc"),
  part("picohttpparser", "MIT", "https://github.com/h2o/picohttpparser"),
  part("zstd", "BSD-3-Clause", "https://github.com/facebook/zstd"),
  part("simdutf", "Apache-2.0", "https://github.com/simdutf/simdutf"),
  part("tinycc", "LGPL-2.1-only", "https://github.com/tinycc/tinycc"),
  part("uSockets", "Apache-2.0", "https://github.com/uNetworking/uSockets"),
  part("uWebSockets (a fork)", "Apache-2.0", "https://github.com/jarred-sumner/uwebsockets"),
  part("zlib-ng", "Zlib", "https://github.com/zlib-ng/zlib-ng"),
  part("c-ares", "MIT", "https://github.com/c-ares/c-ares"),
  part("libicu", "ICU", "https://github.com/unicode-org/icu"),
  part("libbase64", "BSD-2-Clause", "https://github.com/aklomp/base64"),
  part("libdeflate", "MIT", "https://github.com/ebiggers/libdeflate"),
  part(
    "libjpeg-turbo",
    "BSD-3-Clause AND IJG AND Zlib",
    "https://github.com/libjpeg-turbo/libjpeg-turbo",
  ),
  part("libspng", "BSD-2-Clause", "https://github.com/randy408/libspng"),
  part("libwebp", "BSD-3-Clause", "https://chromium.googlesource.com/webm/libwebp"),
  part("highway", "Apache-2.0", "https://github.com/google/highway"),
  part("uucode", "MIT", "https://github.com/jacobsandlund/uucode"),
  part(
    "TigerBeetle (its input and output)",
    "Apache-2.0",
    "https://github.com/tigerbeetle/tigerbeetle",
  ),
  part(
    "LLVM libc++abi (a part)",
    "Apache-2.0 WITH LLVM-exception",
    "https://github.com/llvm/llvm-project",
  ),
  part("esbuild (ported parts)", "MIT", "https://github.com/evanw/esbuild"),
  part("SQLite", "blessing", "https://sqlite.org/copyright.html"),
];

/** Packages of JavaScript that Bun carries for Node's modules; each is under the MIT license. */
export const polyfills =
  "acorn, acorn-walk, assert, browserify-zlib, buffer, constants-browserify, " +
  "crypto-browserify, domain-browser, events, https-browserify, os-browserify, path-browserify, " +
  "process, punycode, querystring-es3, stream-browserify, stream-http, string_decoder, " +
  "timers-browserify, tty-browserify, url, util, vm-browserify";
