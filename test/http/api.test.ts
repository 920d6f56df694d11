/** The table of the API, in process. */
import { testApp } from "../helpers/app.ts";
import { testApi } from "./api-cases.ts";

testApi(async () => {
  const { key, send, services, store } = await testApp();
  const limits = { perMinute: 1_000, perDay: 1_000 };
  const reader = { name: "reader", plan: "enterprise", readOnly: true, ...limits } as const;
  return {
    send,
    secrets: {
      writer: await key("enterprise", limits),
      spent: await key("enterprise", { perMinute: 1, perDay: 1 }),
      reader: (await services.keys.create(reader)).secret,
    },
    close: () => store.close(),
  };
});
