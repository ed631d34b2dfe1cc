import { describe, expect, it } from "vitest";
import { addressOfParts, completeAddress } from "./database-address.ts";

describe("the address of a database", () => {
  it("is made of its parts", () => {
    const env = { POSTGRES_HOST: "db.example", POSTGRES_DB: "geo", POSTGRES_USER: "a b" };
    expect(addressOfParts(env)).toBe("postgres://a%20b@db.example/geo");
    expect(addressOfParts({ ...env, POSTGRES_PASSWORD: "p:w", POSTGRES_PORT: "5433" })).toBe(
      "postgres://a%20b:p%3Aw@db.example:5433/geo",
    );
  });

  it.each([
    ["postgres://a:b@db.example/geo", {}, "postgres://a:b@db.example/geo?sslmode=verify-full"],
    [
      "postgres://a:b@db.example/geo",
      { PGSSLMODE: "require", PGSSLROOTCERT: "/ca.pem" },
      "postgres://a:b@db.example/geo?sslmode=require&sslrootcert=%2Fca.pem",
    ],
    ["postgres://a:b@db.example/geo?sslmode=disable", {}, undefined],
    ["postgres://a:b@127.0.0.1:5432/geo", {}, undefined],
    ["postgres://a:b@[::1]/geo", {}, undefined],
    ["postgres://a:b@localhost/geo", {}, undefined],
    ["postgres:///geo?host=/run/postgresql", {}, undefined],
    ["no address", {}, undefined],
  ])("%s with %o is in TLS unless it is on this machine", (address, env, expected) => {
    expect(completeAddress(address, env)).toBe(expected ?? address);
  });

  it("names the managed identity, but not beside a password", () => {
    const env = { USE_MANAGED_IDENTITY: "true", DB_ADMIN_MANAGED_IDENTITY_CLIENT_ID: "id" };
    expect(completeAddress("postgres://a@127.0.0.1/geo", env)).toBe(
      "postgres://a@127.0.0.1/geo?managed_identity=id",
    );
    expect(completeAddress("postgres://a:b@127.0.0.1/geo", env)).toBe(
      "postgres://a:b@127.0.0.1/geo",
    );
  });
});
