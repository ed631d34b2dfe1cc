import { beforeEach, describe, expect, it } from "vitest";
import { SharedSync } from "./shared-sync.ts";

const message = (type: string, body = ""): Buffer => {
  const header = Buffer.alloc(5, type);
  header.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([header, Buffer.from(body)]);
};
const startup = Buffer.from("\0\0\0\x0c\0\x03\0\0user", "latin1");
const sync = message("S");
const statement = [message("B", "values"), message("E", "\0\0\0\0\0"), sync];

/** The types of messages; of an error and of ReadyForQuery also what they say. */
function types(bytes: Buffer): string[] {
  const found: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const [type, end] = [bytes.toString("latin1", at, at + 1), at + 1 + bytes.readUInt32BE(at + 1)];
    const body = bytes.toString("latin1", at + 5, end);
    found.push(
      type === "Z" ? `Z${body}` : type === "E" ? (/C(\w{5})\0/.exec(body)?.[1] ?? "E") : type,
    );
    at = end;
  }
  return found;
}

describe("statements that leave together", () => {
  let syncs: SharedSync;
  const send = (...messages: readonly Buffer[]) =>
    types(Buffer.concat(messages.flatMap((each) => syncs.sending(each))));
  const release = () => types(Buffer.concat(syncs.release()));
  const receive = (...messages: readonly Buffer[]) =>
    types(syncs.receiving(Buffer.concat(messages)));

  beforeEach(() => {
    syncs = new SharedSync();
    expect(syncs.sending(startup)).toEqual([startup]);
    expect(receive(message("R", "\0\0\0\0"), message("Z", "I"))).toEqual(["R", "ZI"]);
  });

  it("have one Sync, and each the ReadyForQuery that the driver waits for", () => {
    expect(send(...statement, ...statement, ...statement)).toEqual(["B", "E", "B", "E", "B", "E"]);
    expect(release()).toEqual(["S"]);
    expect(release()).toEqual([]);
    expect(
      receive(
        message("2"),
        message("C", "UPDATE 1"),
        message("2"),
        message("D", "row"),
        message("C", "SELECT 1"),
      ),
    ).toEqual(["2", "C", "ZT", "2", "D", "C", "ZT"]);
    expect(receive(message("2"), message("C", "COMMIT"), message("Z", "I"))).toEqual([
      "2",
      "C",
      "ZI",
    ]);
  });

  it("are answered the same however the bytes are cut", () => {
    send(...statement, ...statement);
    release();
    const answer = Buffer.concat([
      message("C", "INSERT 0 1"),
      message("C", "COMMIT"),
      message("Z", "I"),
    ]);
    const pieces = Array.from(answer, (_, at) => syncs.receiving(answer.subarray(at, at + 1)));
    expect(types(Buffer.concat(pieces))).toEqual(["C", "ZT", "C", "ZI"]);
  });

  it("are all refused after one of them fails, and the next ones are not", () => {
    send(...statement, ...statement, ...statement, ...statement);
    release();
    expect(receive(message("C"), message("E", "C40001\0"), message("Z", "E"))).toEqual([
      "C",
      "ZT",
      "40001",
      "ZE",
      "25P02",
      "ZE",
      "25P02",
      "ZE",
    ]);
    expect(send(message("Q", "ROLLBACK"))).toEqual(["Q"]);
    expect(receive(message("C"), message("Z", "I"))).toEqual(["C", "ZI"]);
    send(...statement, ...statement);
    release();
    expect(receive(message("C"), message("C"), message("Z", "I"))).toEqual(["C", "ZT", "C", "ZI"]);
  });

  it("get their Sync before a statement of the simple protocol, which would be skipped without it", () => {
    expect(send(...statement, ...statement, message("Q", "ROLLBACK"))).toEqual([
      "B",
      "E",
      "B",
      "E",
      "S",
      "Q",
    ]);
    expect(
      receive(message("E", "C22012\0"), message("Z", "E"), message("C"), message("Z", "I")),
    ).toEqual(["22012", "ZE", "25P02", "ZE", "C", "ZI"]);
  });

  it("count one that could not be sent, whose preparation the driver closes", () => {
    send(...statement, message("P"), message("C"), sync, ...statement);
    release();
    expect(
      receive(message("C"), message("1"), message("3"), message("C"), message("Z", "T")),
    ).toEqual(["C", "ZT", "1", "3", "ZT", "C", "ZT"]);
  });
});

it("nothing is changed on a connection that asks for encryption first", () => {
  const syncs = new SharedSync();
  const request = Buffer.from([0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f]);
  expect(syncs.sending(request)).toEqual([request]);
  expect(syncs.receiving(Buffer.from("S")).toString()).toBe("S");
  expect(syncs.sending(sync)).toEqual([sync]);
});
