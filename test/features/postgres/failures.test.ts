/** What becomes of the work that a database's error ended. */
import { SQL } from "bun";
import { describe, expect, test } from "bun:test";
import { AppError } from "../../../src/domain/errors.ts";
import {
  asAppError,
  isConnectionLoss,
  isHarmless,
} from "../../../src/features/postgres/failures.ts";

const ofServer = (errno: string) =>
  new SQL.PostgresError("refused", { code: "ERR_POSTGRES_SERVER_ERROR", errno });
const ofClient = (code: string) => Object.assign(new Error("lost"), { code });

describe.each([
  ["a standby, since a failover", ofServer("25006"), "is done again"],
  ["no free connection", ofServer("53300"), "is done again"],
  ["a server that starts", ofServer("57P03"), "is done again"],
  ["no server", ofClient("ERR_POSTGRES_CONNECTION_REFUSED"), "is done again"],
  ["a restart", ofServer("57P01"), "may have been done"],
  ["a broken protocol", ofServer("08006"), "may have been done"],
  ["a changed password", ofServer("28P01"), "may have been done"],
  ["a closed connection", ofClient("ERR_POSTGRES_CONNECTION_CLOSED"), "may have been done"],
  ["no TLS", ofClient("ERR_POSTGRES_TLS_NOT_AVAILABLE"), "is done again"],
  ["an unknown name", ofClient("ENOTFOUND"), "may have been done"],
  ["a lock that another one holds", ofServer("55P03"), "fails"],
  ["a rule of the tables", ofServer("23505"), "fails"],
  ["a mistake of ours", new TypeError("x is undefined"), "fails"],
])("%s", (_what, error, outcome) => {
  test(outcome, () => {
    expect([isConnectionLoss(error), isHarmless(error)]).toEqual([
      outcome !== "fails",
      outcome === "is done again",
    ]);
  });
});

test("a failure that is not the database's stays what it is", () => {
  const taken = new AppError("invalid_request", "The label is taken.", { code: "keyNameTaken" });
  for (const error of [taken, new TypeError("x")]) {
    expect(asAppError(error)).toBe(error);
    expect(isConnectionLoss(error)).toBe(false);
  }
});
