/**
 * `rehome pets import` and `pets export` on the compiled file, beside a running server and under a
 * terminal.
 */
import { describe, expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { importSchema } from "../../src/features/import/commands/import-report.ts";
import { documentedJson } from "../helpers/json-contract.ts";
import {
  cleanEnvironment,
  executable,
  makeKey,
  rehome,
  temporaryFolder,
} from "../helpers/binary.ts";
import { exported, importInto } from "../helpers/importing.ts";
import { finished } from "../helpers/finished.ts";

const fixture = (name: string) => join(import.meta.dir, "../fixtures/import", name);

describe("pets import", () => {
  test("never empties what it reads, whatever --rejects says", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "animals.csv");
    const text = "name,categoryId\nRex,1\n";
    writeFileSync(file, text);
    const args = [file, "--rejects", `${folder.path}/./animals.csv`];
    const { exitCode, stderr } = await importInto(folder.path, ...args);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("is read by this import")]);
    expect(await Bun.file(file).text()).toBe(text);
  });

  test("bad records keep everything as it was; they are named, and written down whole", async () => {
    using folder = temporaryFolder();
    const rejects = join(folder.path, "rejects.ndjson");
    const refused = await importInto(
      folder.path,
      fixture("petstore.json"),
      "--create-categories",
      "--rejects",
      rejects,
    );
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toStartWith(
      "Error: 8 of 13 records cannot be imported, so nothing was changed.\n  2  category.id: expected a whole number of 64 bits, found 9223372036854775808 (records 8, 9)\n",
    );
    expect(refused.stderr).toEndWith("Try: Fix the records, or import the rest with --skip-bad.\n");
    const lines = (await Bun.file(rejects).text()).trimEnd().split("\n");
    expect(lines).toHaveLength(8);
    expect(lines[2]).toBe(
      '{"line":8,"field":"category.id","problem":"expected a whole number of 64 bits, found 9223372036854775808","record":{"id":8,"category":{"id":9223372036854775808},"name":"Too large","photoUrls":[]}}',
    );
    expect((await exported(folder.path, "json")).stdout).toBe("[]\n");
  });

  test("a full disk under the file of rejects is said, beside what became of the import", async () => {
    using folder = temporaryFolder();
    const args = [fixture("petstore.json"), "--create-categories", "--rejects", "/dev/full"];
    const words =
      "Error: The file of rejects /dev/full cannot be written: no space is left on the disk.";
    const refused = await importInto(folder.path, ...args);
    expect([refused.exitCode, refused.stderr.split("\n", 1)]).toEqual([1, [words]]);
    expect(refused.stderr).not.toContain("All of them are in");
    const taken = await importInto(folder.path, ...args, "--skip-bad");
    expect([taken.exitCode, taken.stderr.split("\n", 1)]).toEqual([1, [words]]);
    expect(taken.stdout).toContain("  4  added\n");
  });

  test("a file of rejects that exists is overwritten only with --force", async () => {
    using folder = temporaryFolder();
    const rejects = join(folder.path, "rejects.ndjson");
    writeFileSync(rejects, "of the import before\n");
    const args = [fixture("petstore.json"), "--create-categories", "--rejects", rejects];
    const { exitCode, stderr } = await importInto(folder.path, ...args);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("exists.\nTry: Name another")]);
    expect(await Bun.file(rejects).text()).toBe("of the import before\n");
    expect((await importInto(folder.path, ...args, "--force")).exitCode).toBe(1);
    expect((await Bun.file(rejects).text()).split("\n")).toHaveLength(9);
  });

  test("a device that fails is said in words", async () => {
    using folder = temporaryFolder();
    // Nothing can be read at the beginning of a process's memory.
    expect(await rehome(["pets", "import", "/proc/self/mem", "--data", folder.path])).toEqual({
      exitCode: 1,
      stdout: "",
      stderr:
        "Error: /proc/self/mem cannot be read on: the device reports an error.\n" +
        "Try: Copy the file to the disk of this machine. Nothing was changed.\n",
    });
  });

  test("a workbook, gzip, other encodings and words of other languages are read", async () => {
    using folder = temporaryFolder();
    const workbook = await importInto(folder.path, fixture("streamed.xlsx"), "--json");
    expect(documentedJson(importSchema, workbook.stdout)).toMatchObject({
      shape: "xlsx",
      added: 2,
    });
    const file = join(folder.path, "lista.csv.gz");
    const text =
      "Nombre;Especie;Situación\nÑata;Perro;Disponible\nLuz;Gato;En las nubes\nSol;Gato;Muerto\n";
    writeFileSync(file, Bun.gzipSync(Buffer.from(text, "latin1")));
    const args = [file, "--encoding", "windows-1252", "--create-categories", "--map"];
    const map = "name=Nombre,categoryId=Especie,status=Situación";
    const unknown = await importInto(folder.path, ...args, map);
    expect([unknown.exitCode, unknown.stderr]).toEqual([
      1,
      expect.stringContaining(
        "  1  Situación: unknown status \"En las nubes\" (line 3)\nTry: Say what each ? means (available, pending, sold, none, gone): --status 'En las nubes=?'.",
      ),
    ]);
    const told = await importInto(folder.path, ...args, map, "--status", "En las nubes=pending");
    expect(told.exitCode).toBe(0);
    expect((await exported(folder.path, "csv")).stdout).toContain("Ñata");
  });

  test("a whole list withdraws who is not in it; more than half only with --yes", async () => {
    using folder = temporaryFolder();
    const data = ["--data", join(folder.path, "data"), "--json", "--create-categories"];
    const map = ["--map", "name=N,categoryId=K,status=S,externalId=T", "--source", "clinic"];
    const day = async (rows: string[], ...args: string[]) => {
      const stdin = `N,K,S,T\n${rows.join("\n")}\n`;
      const done = await rehome(["pets", "import", "-", ...map, ...args, ...data], { stdin });
      return { exitCode: done.exitCode, stderr: done.stderr, ...JSON.parse(done.stdout || "{}") };
    };
    const monday = ["Rex,Dog,Available,1", "Bo,Cat,Available,2", "Lu,Cat,Reserved,3"];
    expect(await day(monday)).toMatchObject({ exitCode: 0, source: "clinic", added: 3 });
    const tuesday = ["Lu,Cat,Adopted,3"];
    const why = "2 of the 3 animals of clinic are not in this list";
    expect(await day(tuesday, "--complete")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(`${why}. Nothing was changed.\nTry: See whether`),
    });
    const dry = await day(tuesday, "--complete", "--dry-run");
    const texts = [
      "none of 1 animal is for adoption by S",
      `the import itself would be refused: ${why}`,
    ];
    expect([dry.exitCode, dry.notes.map(({ text }: { text: string }) => text)]).toEqual([0, texts]);
    expect(await day(tuesday, "--complete", "--yes")).toMatchObject({
      updated: 1,
      withdrawn: 2,
      missing: 2,
    });
    expect((await exported(folder.path, "ndjson")).stdout).toBe(
      '{"id":3,"name":"Lu","categoryId":2,"status":"sold","category":"Cat","externalId":"clinic:3","source":"clinic"}\n',
    );
  });

  test("an import of which nothing could be taken has failed, --skip-bad or not", async () => {
    using folder = temporaryFolder();
    const args = ["pets", "import", "-", "--skip-bad", "--data", join(folder.path, "data")];
    const none = await rehome(args, { stdin: "name,categoryId\nRex,\nBo,x\n" });
    expect([none.exitCode, none.stderr]).toEqual([
      1,
      expect.stringContaining("Error: None of 2 records could be imported."),
    ]);
  });

  test("a dry run needs no catalogue, and leaves none", async () => {
    using folder = temporaryFolder();
    const place = `--data=${folder.path}/data`;
    const dry = await rehome(["pets", "import", fixture("dallas.csv"), "--dry-run", place]);
    expect([dry.exitCode, dry.stderr]).toEqual([
      0,
      `There is no catalogue in ${folder.path}/data yet; this would create one.\n`,
    ]);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test("a dry run changes nothing", async () => {
    using folder = temporaryFolder();
    await makeKey(join(folder.path, "data"));
    const dry = await importInto(
      folder.path,
      fixture("dallas.csv"),
      "--create-categories",
      "--dry-run",
    );
    expect(dry.stdout).toBe(
      'Read 3 records (dallas, csv).\n  2  would be added\n  0  would be updated\n  0  unchanged\n  1  not for adoption: Outcome_Type "RETURNED TO OWNER"\nCategory DOG would be 1.\nCategory CAT would be 2.\nNote: animals have no name and are called Unnamed (2, first on line 2: dallas:A600001).\n',
    );
    expect((await exported(folder.path, "json")).stdout).toBe("[]\n");
  });

  test("standard input, a map and categories with ids of their own", async () => {
    using folder = temporaryFolder();
    for (const [name, id] of [
      ["Dog", "9223372036854775807"],
      ["Bird", "7"],
    ] as const) {
      await rehome(["categories", "add", name, "--id", id, "--data", folder.path]);
    }
    const map = 'name=Pet Name,categoryId="Kind, or species",externalId=Tag';
    const args = ["-", "--map", map, "--data", folder.path];
    const stdin = await Bun.file(fixture("other.csv")).text();
    const asked = await rehome(["pets", "import", ...args], { stdin });
    expect([asked.exitCode, asked.stderr]).toEqual([
      2,
      expect.stringContaining("The columns were guessed, so nothing was changed."),
    ]);
    const yes = ["--accept-guess"];
    const done = await rehome(["pets", "import", ...args, ...yes], { stdin });
    expect([done.exitCode, done.stderr]).toEqual([0, ""]);
    const csv = await rehome(["pets", "export", "--format", "csv", "--data", folder.path]);
    expect(csv.stdout).toBe(
      "id,name,categoryId,category,status,externalId,source\r\n1,Bo,9223372036854775807,Dog,available,T-1,\r\n2,Unnamed,7,Bird,pending,T-2,\r\n",
    );
  });

  test.each([
    [["nothing.json"], 2, "nothing.json cannot be read: there is no such file."],
    [["/dev/null"], 2, "/dev/null cannot be read: it is a device."],
    [[], 2, "missing required argument 'file'"],
    [["-"], 1, "Error: standard input: the input is empty"],
    [
      [fixture("other.csv")],
      1,
      "or say the same: --map 'name=Pet Name,categoryId=\"Kind, or species\",status=State,externalId=Tag'",
    ],
    [
      [fixture("dallas.csv"), "--rejects", "/no/such/folder/x"],
      1,
      "/no/such/folder/x cannot be written: its folder does not exist.\nTry: ",
    ],
  ])("refuses %j in words", async (args, exitCode, words) => {
    using folder = temporaryFolder();
    const result = await importInto(folder.path, ...args);
    expect(result.exitCode).toBe(exitCode);
    expect(result.stderr).toStartWith("Error: ");
    expect(result.stderr).toContain(words);
    expect(result.stderr).not.toContain("    at ");
  });
});

describe("pets export", () => {
  test("goes into another store and comes out the same, in every format", async () => {
    using folder = temporaryFolder();
    await importInto(folder.path, fixture("petstore.json"), "--skip-bad", "--create-categories");
    const original = (await exported(folder.path, "ndjson")).stdout;
    for (const format of ["json", "ndjson", "csv"]) {
      using other = temporaryFolder();
      const { stdout } = await exported(folder.path, format);
      const args = ["pets", "import", "-", "--new-ids", "--data", join(other.path, "data")];
      await rehome(args, { stdin: stdout });
      expect((await exported(other.path, "ndjson")).stdout).toBe(original);
    }
  });

  test("is edited and imported back: animals are updated by their ids", async () => {
    using folder = temporaryFolder();
    await importInto(folder.path, fixture("streamed.xlsx"), "--create-categories");
    const csv = (await exported(folder.path, "csv")).stdout;
    expect(csv).toBe(
      "id,name,categoryId,category,status,externalId,source\r\n" +
        "1,Biscuit,1,Dog,available,petpoint:A50000001,petpoint\r\n" +
        "2,Unnamed,2,Cat,pending,petpoint:A50000002,petpoint\r\n",
    );
    const data = ["--data", join(folder.path, "data"), "--json"];
    const back = async (stdin: string, ...args: string[]) => {
      const done = await rehome(["pets", "import", "-", ...args, ...data], { stdin });
      return { exitCode: done.exitCode, stderr: done.stderr, ...JSON.parse(done.stdout || "{}") };
    };
    expect(await back(csv)).toMatchObject({ exitCode: 0, unchanged: 2 });
    const edited = csv.replace("Unnamed,2,Cat,pending", "Mimi,,Cat,Adopted");
    expect(await back(edited)).toMatchObject({ exitCode: 0, updated: 1, unchanged: 1 });
    expect((await exported(folder.path, "ndjson")).stdout).toBe(
      '{"id":1,"name":"Biscuit","categoryId":1,"status":"available","category":"Dog","externalId":"petpoint:A50000001","source":"petpoint"}\n' +
        '{"id":2,"name":"Mimi","categoryId":2,"status":"sold","category":"Cat","externalId":"petpoint:A50000002","source":"petpoint"}\n',
    );
  });

  test("ends quietly when nobody reads on", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "large.csv");
    writeFileSync(file, `name,categoryId,status\n${"Rex,1,available\n".repeat(20_000)}`);
    await importInto(folder.path, file, "--new-ids");
    const command = '"$0" pets export --format ndjson --data data | head -n 1';
    const child = Bun.spawn(["bash", "-o", "pipefail", "-c", command, await executable()], {
      cwd: folder.path,
      env: cleanEnvironment,
      stdout: "pipe",
      stderr: "pipe",
    });
    const { exitCode, stdout, stderr } = await finished(child);
    expect([exitCode, stdout, stderr]).toEqual([
      0,
      '{"id":1,"name":"Rex","categoryId":1,"status":"available"}\n',
      "",
    ]);
  });
});
