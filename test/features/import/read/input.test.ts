import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { recordBytesMax, utf8Chunks } from "../../../../src/features/import/read/input.ts";
import { fixture, inPieces, readWhole, refusal } from "../helpers.ts";

async function through(bytes: Uint8Array, pieceSize: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const chunk of utf8Chunks(inPieces(bytes, pieceSize))) {
    // Each piece by itself has to be whole characters.
    new TextDecoder("utf-8", { fatal: true }).decode(chunk);
    pieces.push(chunk);
  }
  return Buffer.concat(pieces);
}

describe("utf8Chunks", () => {
  test("gives every text back in whole characters, however it is cut", async () => {
    const text = fc.string({ unit: fc.constantFrom("a", "é", "€", "😀", "\n", "\ufeff") });
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 6 }), async (text, size) => {
        const expected = text.startsWith("\ufeff") ? text.slice(1) : text;
        expect((await through(Buffer.from(text), size)).toString()).toBe(expected);
      }),
    );
  });

  test("agrees with a fatal TextDecoder on any bytes", async () => {
    const byte = fc.constantFrom(
      0x0a,
      0x41,
      0x80,
      0xbf,
      0xc3,
      0xa9,
      0xe2,
      0x82,
      0xed,
      0xa0,
      0xf0,
      0x9f,
      0xff,
    );
    const plain = [0x41, 0x41, 0x41, 0x41];
    await fc.assert(
      fc.asyncProperty(
        fc.array(byte, { maxLength: 12 }),
        fc.integer({ min: 1, max: 5 }),
        async (tail, size) => {
          const bytes = Uint8Array.from([...plain, ...tail]);
          let valid = true;
          try {
            new TextDecoder("utf-8", { fatal: true }).decode(bytes);
          } catch {
            valid = false;
          }
          const read = await through(bytes, size).then(
            () => true,
            () => false,
          );
          expect(read).toBe(valid);
        },
      ),
      { numRuns: 1000 },
    );
  });

  test("names the line that is not UTF-8", async () => {
    const bytes = Buffer.concat([
      Buffer.from("id,name\n1,Zoé\n2,Zo"),
      Buffer.from([0xe9]),
      Buffer.from("\n3,x\n"),
    ]);
    for (const size of [1, 8, 1000]) {
      expect(await refusal(through(bytes, size))).toBe(
        "line 3: expected UTF-8 text, found bytes that are not (if it was saved on Windows: --encoding windows-1252)",
      );
    }
    expect(await refusal(through(Buffer.from([0x41, 0x0a, 0x41, 0x41, 0xc3]), 2))).toContain(
      "line 2: expected UTF-8",
    );
  });
});

describe("any input", () => {
  test("nothing, or only blanks, is refused", async () => {
    for (const text of ["", "\ufeff", " \n\n"])
      expect(await refusal(readWhole(text))).toBe("the input is empty");
  });

  test("a record without end is refused before it fills the memory", async () => {
    async function* endless(beginning: string): AsyncGenerator<Uint8Array> {
      yield Buffer.from(beginning);
      const piece = Buffer.alloc(1024 * 1024, "x");
      for (let sent = 0; sent < 4 * recordBytesMax; sent += piece.length) yield piece;
    }
    const { beginReading } = await import("../../../../src/features/import/reading.ts");
    const readAll = async (beginning: string) => {
      const { batches } = await beginReading(endless(beginning));
      for await (const batch of batches) expect(batch).toBeArray();
    };
    expect(await refusal(readAll('[{"name":"'))).toContain("line 1: expected a record of at most");
    expect(await refusal(readAll('{"name":"a","categoryId":1}\n{"name":"'))).toContain(
      "line 2: expected a record of at most",
    );
    expect(await refusal(readAll('name,categoryId\n1,"'))).toContain(
      "line 2: expected a record of at most",
    );
  });

  test("the fixtures read the same in pieces of one byte and whole", async () => {
    const names = [
      "petstore.json",
      "petfinder.json",
      "rescuegroups.json",
      "asm.json",
      "austin.csv",
      "dallas.csv",
      "king-county.csv",
      "long-beach.csv",
      "rehome.ndjson",
    ];
    for (const name of names) {
      const bytes = await fixture(name);
      expect(await readWhole(bytes, undefined, 1)).toEqual(
        await readWhole(bytes, undefined, bytes.length),
      );
    }
  });

  test("the source is let go when reading stops early", async () => {
    const { beginReading } = await import("../../../../src/features/import/reading.ts");
    for (const text of [
      '[{"name":"a","categoryId":1}]',
      '{"name":"a","categoryId":1}\n',
      "name,categoryId\na,1\n",
    ]) {
      let closed = false;
      async function* source(): AsyncGenerator<Uint8Array> {
        try {
          for (let sent = 0; sent < 100; sent += 1) yield Buffer.from(text.repeat(5000));
        } finally {
          closed = true;
        }
      }
      const { batches } = await beginReading(source());
      await batches.next();
      await batches.return(undefined);
      expect(closed).toBe(true);
    }
  });
});
