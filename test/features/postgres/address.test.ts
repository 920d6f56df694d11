import { expect, test } from "bun:test";
import { userInfo } from "node:os";
import { describeAddress, parseDatabaseAddress } from "../../../src/features/postgres/address.ts";

test("is read with everything that it says", () => {
  const address = parseDatabaseAddress(
    "postgresql://al%40ice:p%40ss%2Fw%3Ard@db.example.org:6432/pets?sslmode=verify-ca&sslrootcert=/ca.pem&application_name=a&options=-c%20x%3D1&channel_binding=require&target_session_attrs=read-write&connect_timeout=5&pgbouncer=true&sslcert=/c.pem&sslkey=/k.pem",
  );
  expect(address).toMatchObject({
    hosts: [{ host: "db.example.org", socketFolder: undefined, port: 6432 }],
    user: "al@ice",
    database: "pets",
    sslMode: "verify-ca",
    sslRootCert: "/ca.pem",
    sslCert: "/c.pem",
    sslKey: "/k.pem",
    channelBinding: "require",
    startup: { application_name: "a", options: "-c x=1" },
  });
  expect(address.password()).toBe("p@ss/w:rd");
  expect(describeAddress(address)).toBe("postgres://al%40ice@db.example.org:6432/pets");
});

test.each([
  ["postgres://u@db.example.org/d", "verify-full"],
  ["postgres://u@127.0.0.1.nip.io/d", "verify-full"],
  ["POSTGRES://u@localhost/d", "disable"],
  ["postgres://u@[::1]/d", "disable"],
  ["postgres://u@/d?host=/run/postgresql", "disable"],
  ["postgres://u@localhost/d?sslmode=verify-full", "verify-full"],
  ["postgres://u@db.example.org/d?sslmode=disable", "disable"],
  ["postgres://u@db.example.org/d?host=127.0.0.1", "disable"],
  ["postgres://u@127.0.0.1,[::1]/d", "disable"],
  ["postgres://u@127.0.0.1,db.example.org/d", "verify-full"],
])("%s is reached with sslmode %s", (text, sslMode) => {
  expect(parseDatabaseAddress(text).sslMode).toBe(sslMode as "disable");
});

test.each([
  ["postgres://u:p@[::1]:1/a%2Fb", "postgres://u@[::1]:1/a%2Fb"],
  ["postgres://u:p@/d?host=/run/postgresql", "postgres://u@/run/postgresql:5432/d"],
  ["postgres://u:p@h1,h2:6432,[::1]:1/d", "postgres://u@h1:5432,h2:6432,[::1]:1/d"],
  ["postgres://u:p%2C@/d?host=h1,h2&port=6432", "postgres://u@h1:6432,h2:6432/d"],
  ["postgres://u@/d?host=h1,/run/pg&port=1,2", "postgres://u@h1:1,/run/pg:2/d"],
  ["postgres://bob@db", "postgres://bob@db:5432/bob"],
  ["postgres://db:65535/d", `postgres://${userInfo().username}@db:65535/d`],
])("%s is shown as %s", (text, shown) => {
  expect(describeAddress(parseDatabaseAddress(text))).toBe(shown);
});

test.each([
  ["another scheme", "mysql://u:hunter2@h/d", "must begin with postgres://"],
  ["no URL", "postgres://u:hunter2@h:port/d", "cannot be read"],
  ["a port out of range", "postgres://u:hunter2@h/d?port=65536", "port"],
  ["a port of one of several hosts", "postgres://u:hunter2@h:1,h:port/d", "cannot be read"],
  ["fewer ports than hosts", "postgres://u:hunter2@/d?host=a,b,c&port=1,2", "number of ports"],
  ["a # in a password", "postgres://u:hunter2@ret#x@127.0.0.1/d", "must be percent-encoded"],
  ["a bad escape", "postgres://u:hunter2%zz@h/d", "%"],
  ["an unknown parameter", "postgres://u:hunter2@h/d?sslmod=disable", '"sslmod"'],
  ["sslmode=prefer", "postgres://u:hunter2@h/d?sslmode=prefer", "sslmode"],
  ["a channel_binding of its own", "postgres://u:hunter2@h/d?channel_binding=1", "channel_binding"],
])("%s is refused in words that do not quote the password", (_what, text, part) => {
  const refused = () => parseDatabaseAddress(text);
  expect(refused).toThrow(part);
  expect(refused).not.toThrow("hunter2");
});
