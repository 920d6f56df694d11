/** What the system's codes for a file or an address that cannot be had mean, to end a sentence. */
const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "a part of the path is a file, not a folder",
  EACCES: "permission denied",
  EPERM: "permission denied",
  ENAMETOOLONG: "its name is too long",
  EISDIR: "it is a folder",
  EEXIST: "it exists already",
  EROFS: "the file system is mounted read-only",
  EMFILE: "all file descriptors of this process are in use",
  ENXIO: "nobody reads from this pipe",
  EADDRINUSE: "the port is in use",
  EADDRNOTAVAIL: "no network interface of this machine has this address",
  EPIPE: "nobody reads from this pipe",
  ENOSPC: "no space is left on the disk",
  EIO: "the device reports an error",
};

/** Why a call of the system failed: in words for the usual mistakes, else the system's message. */
export function reasonOf(error: unknown): string {
  const { code = "", message } = error as Error & { code?: string };
  return reasons[code] ?? message;
}

/** Why a file could not be made or opened for writing: what is not there then is its folder. */
export function reasonNotMade(error: unknown): string {
  const { code } = error as { code?: string };
  return code === "ENOENT" ? "its folder does not exist" : reasonOf(error);
}
