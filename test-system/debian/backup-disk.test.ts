/** A backup that has its name is on the disk, as is the name: a power cut leaves all or nothing. */
import { expect, test } from "bun:test";
import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { executable, makeKey, temporaryFolder } from "../../test/helpers/binary.ts";

test("a backup is flushed before it gets its name, and its folder after it", async () => {
  using folder = temporaryFolder();
  const place = realpathSync(folder.path);
  const data = join(place, "data");
  await makeKey(data);
  const [trace, file] = [join(place, "trace"), join(place, "animals.backup")];
  const strace = ["strace", "--follow-forks", "--decode-fds=path", "--quiet=all"];
  const calls = ["--trace=fsync,link,linkat", `--output=${trace}`];
  const backup = [await executable(), "backup", file, "--data", data];
  const { exitCode } = Bun.spawnSync([...strace, ...calls, ...backup]);
  expect(exitCode).toBe(0);
  const order = readFileSync(trace, "utf8")
    .split("\n")
    .flatMap((line) => {
      if (/fsync\(\d+<[^>]*\.partial>/.test(line)) return ["the copy is flushed"];
      if (/link(?:at)?\(.*\.partial"/.test(line)) return ["it gets its name"];
      return line.includes(`<${place}>)`) ? ["the folder is flushed"] : [];
    });
  // SQLite flushes both too, while it makes the copy.
  expect(order.slice(-3)).toEqual([
    "the copy is flushed",
    "it gets its name",
    "the folder is flushed",
  ]);
});
