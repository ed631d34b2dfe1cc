import { expect, it } from "vitest";
import { waitFor } from "../../support/wait.ts";
import type { BrokerBench } from "./bench.ts";
import { deferred, message } from "./bench.ts";

/** What holds where an outside broker carries the messages. */
export function describeOutside(bench: BrokerBench): void {
  const { openWithQueue, collect, empty } = bench;

  it("delivers everything once after its connections were cut, also what runs", async () => {
    const [broker, queue] = await openWithQueue();
    const { cutConnections } = bench.under();
    if (cutConnections === undefined) return;
    const ids = Array.from({ length: 300 }, (_, index) => `m${index}`);
    await broker.publish(
      queue,
      ids.map((id) => message(id)),
    );
    const gate = deferred();
    const { seen } = await collect(broker, queue, () => gate.promise, 20);
    await waitFor(() => seen.length === 20, { what: "twenty running handlers" });
    await cutConnections();
    gate.resolve();
    await waitFor(() => seen.length >= ids.length, { what: "all messages", timeoutMs: 30_000 });
    await empty(broker, queue);
    expect(seen.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    await waitFor(async () => (await broker.outside?.())?.connected === true, {
      what: "the connection is back",
    });
  });

  it("runs a message before its lease is on disk, and keeps it in the outside broker until then", async () => {
    if ((await bench.open()).outside === undefined) return;
    const under = bench.under();
    const transaction: typeof under.transaction = (work) => under.transaction(work);
    // The first flush waits until the lease is gone and fails, as in a crash that loses the lease. It takes three
    // seconds, so that the lock of the stand-in ends and brings a second copy meanwhile. The servers of tests
    // wait for no disk; `remote_write` is how connections to another server would wait.
    await transaction(async (tx) => {
      await tx.query(`DO $$ BEGIN
        EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', current_database());
        EXECUTE format('ALTER DATABASE %I SET synchronous_commit = remote_write', current_database());
      END $$`);
      await tx.query("CREATE SEQUENCE public.flushes");
      await tx.query("CREATE SEQUENCE public.held");
      await tx.query("CREATE TABLE public.flushed_how (synchronous text)");
      await tx.query(`CREATE FUNCTION public.pg_logical_emit_message(boolean, text, text) RETURNS pg_lsn
        LANGUAGE plpgsql AS $$ BEGIN
          IF nextval('flushes') = 1 THEN
            WHILE EXISTS (SELECT FROM dagapp.dag_queue_leases WHERE message_key = 'kept')
              OR nextval('held') < 300 LOOP PERFORM pg_sleep(0.01); END LOOP;
            RAISE EXCEPTION 'the lease is lost';
          END IF;
          INSERT INTO flushed_how VALUES (current_setting('synchronous_commit'));
          RETURN NULL;
        END $$`);
    });
    // Opened here: only new connections have these settings.
    const [broker, queue] = await openWithQueue();
    const { seen } = await collect(broker, queue, async () => {
      await transaction(async (tx) => {
        await tx.query("DELETE FROM dagapp.dag_queue_leases WHERE queue = $1", [queue]);
      });
    });
    await broker.publish(queue, [message("kept")]);
    await waitFor(() => seen.length === 2, { what: "the message again" });
    await empty(broker, queue);
    await transaction(async (tx) => {
      const { rows } = await tx.query("SELECT DISTINCT synchronous FROM flushed_how");
      expect(rows).toEqual([{ synchronous: "remote_write" }]);
      await tx.query("DROP FUNCTION public.pg_logical_emit_message(boolean, text, text)");
      await tx.query(`DO $$ BEGIN
        EXECUTE format('ALTER DATABASE %I RESET search_path', current_database()); END $$`);
    });
  });

  it("waits for locks when it removes what was sent, or it would send all of it again", async () => {
    const [broker, queue] = await openWithQueue();
    if (broker.outside === undefined) return;
    await bench.under().transaction(async (tx) => {
      await tx.query("CREATE TABLE removed_how (lock_timeout text)");
      await tx.query(`CREATE FUNCTION note_removal() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO removed_how VALUES (current_setting('lock_timeout')); RETURN NULL; END $$`);
      await tx.query(`CREATE TRIGGER note_removal AFTER DELETE ON dagapp.dag_queue_ready
        FOR EACH ROW EXECUTE FUNCTION note_removal()`);
    });
    const { seen } = await collect(broker, queue);
    await broker.publish(queue, [message("sent")]);
    await waitFor(() => seen.length === 1, { what: "the message" });
    await empty(broker, queue);
    await bench.under().transaction(async (tx) => {
      const { rows } = await tx.query("SELECT DISTINCT lock_timeout FROM removed_how");
      expect(rows).toEqual([{ lock_timeout: "0" }]);
      await tx.query("DROP TRIGGER note_removal ON dagapp.dag_queue_ready");
    });
  });

  it("delivers a message that returned to the outbox, also with the count of an earlier copy", async () => {
    const [broker, queue] = await openWithQueue();
    if (broker.outside === undefined) return;
    // A relay that dies sends a message twice. Where each copy is leased in turn, and released, the
    // message returns twice with the same count of deliveries.
    const returned = () =>
      bench.under().transaction(async (tx) => {
        await tx.query(
          `INSERT INTO dagapp.dag_queue_ready (message_id, queue, deliveries, released, message_key, body)
           OVERRIDING SYSTEM VALUE VALUES (1000000000, $1, 1, 1, 'copied', '{}')`,
          [queue],
        );
      });
    const { seen } = await collect(broker, queue);
    for (const count of [1, 2]) {
      await returned();
      // Wakes the relay.
      await broker.publish(queue, [message(`beside ${count}`)]);
      await waitFor(() => seen.filter(({ id }) => id === "copied").length === count, {
        what: `the message for the time ${count}`,
      });
      await empty(broker, queue);
    }
  });

  it("runs a message alone that must be", async () => {
    const [broker, queue] = await openWithQueue({ leaseMs: 1000, maxDeliveries: 5 });
    if (broker.outside === undefined) return;
    const { seen } = await collect(broker, queue);
    await broker.publish(queue, [message("suspect", { alone: true })]);
    await waitFor(() => seen.length === 1, { what: "the message" });
    await empty(broker, queue);
  });

  it("lists what a consumer of another program gives up as a dead letter", async () => {
    const [broker, queue] = await openWithQueue();
    const { giveUpOne } = bench.under();
    if (giveUpOne === undefined) return;
    await broker.publish(queue, [message("refused")]);
    await giveUpOne(queue);
    const [dead] = await waitFor(
      async () => {
        const letters = await broker.deadLetters(queue, 10);
        return letters.length > 0 && letters;
      },
      { what: "the dead letter" },
    );
    expect(dead).toMatchObject({ message_key: "refused", body: "body of refused" });
    const { seen } = await collect(broker, queue);
    expect(await broker.requeue(queue, [dead!.id])).toBe(1);
    await waitFor(() => seen.length === 1, { what: "the requeued message" });
  });
}
