/** What becomes of the work that a database's error ended. */
import { SQL } from "bun";
import { expect, test } from "bun:test";
import { AppError } from "../../../src/domain/errors.ts";
import {
  asAppError,
  explainRefusal,
  isConnectionLoss,
  isHarmless,
} from "../../../src/features/postgres/failures.ts";

const ofServer = (errno: string) =>
  new SQL.PostgresError("refused", { code: "ERR_POSTGRES_SERVER_ERROR", errno });
const ofClient = (code: string) => Object.assign(new Error("lost"), { code });

test.each([
  ["a standby, since a failover", "is done again", ofServer("25006")],
  ["no free connection", "is done again", ofServer("53300")],
  ["a server that starts", "is done again", ofServer("57P03")],
  ["no server", "is done again", ofClient("ERR_POSTGRES_CONNECTION_REFUSED")],
  ["a restart", "may have been done", ofServer("57P01")],
  ["a broken protocol", "may have been done", ofServer("08006")],
  ["a changed password", "may have been done", ofServer("28P01")],
  ["a closed connection", "may have been done", ofClient("ERR_POSTGRES_CONNECTION_CLOSED")],
  ["no TLS", "is done again", ofClient("ERR_POSTGRES_TLS_NOT_AVAILABLE")],
  ["an unknown name", "may have been done", ofClient("ENOTFOUND")],
  ["a lock that another one holds", "fails", ofServer("55P03")],
  ["a rule of the tables", "fails", ofServer("23505")],
  ["a mistake of ours", "fails", new TypeError("x is undefined")],
])("%s: what it ended %s", (_what, outcome, error) => {
  const found = [isConnectionLoss(error), isHarmless(error)];
  expect(found).toEqual([outcome !== "fails", outcome === "is done again"]);
});

test("a failure that is not the database's stays what it is", () => {
  const taken = new AppError("invalid_request", "The label is taken.", { code: "keyNameTaken" });
  for (const error of [taken, new TypeError("x")]) {
    expect(asAppError(error)).toBe(error);
    expect(isConnectionLoss(error)).toBe(false);
  }
});

test("a pooler that mixes prepared statements up is refused with what to use", () => {
  for (const state of ["42P05", "26000"]) {
    const refused = explainRefusal(ofServer(state), "here");
    expect(refused.message).toStartWith(
      "here is a pooler that does not support prepared statements",
    );
    expect(refused.hint).toStartWith("Use PgBouncer 1.21 or newer");
    expect(asAppError(ofServer(state))).toMatchObject({ hint: refused.hint });
  }
});
