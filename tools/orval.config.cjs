module.exports = {
  rehome: {
    input: "generated/openapi.json",
    output: {
      target: "generated/orval.ts",
      client: "fetch",
      baseUrl: "",
      override: { mutator: { path: "clients/orval-fetch.ts", name: "rehomeFetch" } },
    },
  },
};
