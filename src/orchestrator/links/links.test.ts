import { describe, expect, it } from "vitest";
import type { FromOrchestrator } from "../../core/link.ts";
import type { Link } from "./links.ts";
import { Links } from "./links.ts";

function setUp() {
  const givenBack: number[] = [];
  let wakes = 0;
  const links = new Links({
    onTold: () => (wakes += 1),
    giveBack: (leases) => givenBack.push(...leases.map(({ message_id }) => message_id)),
  });
  const join = (workerId: string, grants: Record<string, number> = {}) => {
    const heard: FromOrchestrator[] = [];
    const link: Link & { isGone: boolean } = {
      workerId,
      granted: new Map(),
      isGone: false,
      send: (line) => {
        if (!link.isGone) heard.push(line);
        return !link.isGone;
      },
    };
    links.add(link);
    links.hear(link, { grants });
    return { link, heard };
  };
  return { links, join, givenBack, wakes: () => wakes };
}

const result = (message_id: number) => ({
  lease: { message_id, deliveries: 1 },
  ...{ task_id: `t${message_id}`, job_id: "j", node_id: "n" },
  ...{ status: "completed" as const, output: "{}", error: null },
});
const message = (message_id: number) => ({
  ...{ message_id, priority: 0, deliveries: 1, handed_back: 0, message_key: `t${message_id}` },
  ...{ headers: null, body: "{}", leased_at: "2026-01-01 00:00:00+00" },
});
const shares = (seats: readonly { link: Link; count: number }[]) =>
  Object.fromEntries(seats.map(({ link, count }) => [link.workerId, count]));

describe("messages for linked workers", () => {
  it("are spread over those who wait for some, and never more than they asked for", () => {
    const { links, join } = setUp();
    join("one", { q: 1 });
    join("many", { q: 10 });
    join("other", { else: 10 });
    expect(shares(links.reserve("q", 4))).toEqual({ one: 1, many: 3 });
    expect(shares(links.reserve("q", 100))).toEqual({ many: 7 });
    expect(shares(links.reserve("q", 1))).toEqual({});
  });

  it("keep their seats when the transaction did not happen", () => {
    const { links, join } = setUp();
    join("one", { q: 2 });
    links.unreserve("q", links.reserve("q", 2));
    expect(shares(links.reserve("q", 5))).toEqual({ one: 2 });
  });

  it("go back when the worker is gone", () => {
    const { links, join, givenBack } = setUp();
    const { link, heard } = join("one", { q: 2 });
    links.handOver("q", { link, count: 1 }, [message(1)]);
    link.isGone = true;
    links.handOver("q", { link, count: 1 }, [message(2)]);
    expect(heard).toEqual([{ queue: "q", messages: [message(1)] }]);
    expect(givenBack).toEqual([2]);
    expect(links.counters.handed).toBe(1);
  });

  it("no longer go to one that said goodbye, which may still tell what it did", () => {
    const { links, join, wakes } = setUp();
    const { link, heard } = join("one", { q: 2 });
    links.hear(link, { bye: true });
    expect(heard).toEqual([{ bye: true }]);
    expect(links.reserve("q", 1)).toEqual([]);
    links.hear(link, { told: [result(1)] });
    expect(wakes()).toBe(1);
    links.answer(links.takeTold(10), ["ok"]);
    expect(heard.at(-1)).toEqual({ settled: "o" });
  });
});

describe("results that were told", () => {
  it("are answered to each worker in the order in which it told them", () => {
    const { links, join } = setUp();
    const [one, two] = [join("one"), join("two")];
    links.hear(one.link, { told: [result(1), result(2)] });
    links.hear(two.link, { told: [result(3)] });
    links.hear(one.link, { told: [result(4)] });
    links.answer(links.takeTold(3), ["ok", "lost", "again"]);
    links.answer(links.takeTold(3), ["ok"]);
    expect(one.heard).toEqual([{ settled: "ol" }, { settled: "o" }]);
    expect(two.heard).toEqual([{ settled: "a" }]);
    expect(links.counters.told).toBe(2);
  });

  it("are forgotten with the connection: its worker tells the database", () => {
    const { links, join } = setUp();
    const { link } = join("one");
    links.hear(link, { told: [result(1)] });
    links.remove(link);
    expect(links.takeTold(10)).toEqual([]);
  });
});
