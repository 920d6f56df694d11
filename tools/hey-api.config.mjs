export default {
  input: "./generated/openapi.json",
  output: "generated/hey-api",
  plugins: [
    "@hey-api/client-fetch",
    "@hey-api/typescript",
    { name: "@hey-api/transformers", bigInt: true },
    { name: "@hey-api/sdk", transformer: true },
  ],
};
