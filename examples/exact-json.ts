/** JSON with every digit of an integer: those that a number would round are BigInt. */
interface Source {
  readonly source: string;
}

/** For `JSON.parse`: its third argument has the digits as they stand in the text. */
export function exactly(_name: string, value: unknown, context?: Source): unknown {
  const isRounded = Number.isInteger(value) && !Number.isSafeInteger(value);
  return isRounded && context !== undefined ? BigInt(context.source) : value;
}

/** Makes every `JSON.stringify` write a BigInt as the number that it is. Without this it throws. */
export function writeBigIntExactly(): void {
  const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown };
  Object.defineProperty(BigInt.prototype, "toJSON", {
    value(this: bigint) {
      return rawJSON(this.toString());
    },
  });
}
