const input = "generated/openapi.json";

module.exports = {
  rehome: {
    input,
    output: {
      target: "generated/orval.ts",
      client: "fetch",
      baseUrl: "",
      override: { mutator: { path: "clients/orval-fetch.ts", name: "rehomeFetch" } },
    },
  },
  exact: {
    input,
    output: {
      target: "generated/orval-exact.ts",
      client: "fetch",
      baseUrl: { runtime: 'process.env["API_URL"]' },
      override: {
        useBigInt: true,
        fetch: { jsonReviver: { path: "clients/exact-json.ts", name: "exactly" } },
      },
    },
  },
};
