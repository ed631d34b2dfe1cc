/**
 * The submitter of one cell of the table, in a process of its own: a peer may need another Node
 * than we do, and CPU time is counted by process.
 *
 * An adapter is a module with `open({ databaseUrl, watchUrl, redisUrl, folder, workload, size,
 * settings })`, which resolves, when its workers are ready to be used, to
 *   roles()      pid → what it is, of all processes that it started
 *   warmUp()     optional: brings connections, plans and compilers to life; not measured
 *   fill(size)   optional, W5 only: queues the backlog while no worker runs
 *   run(size)    → { tasks, wallMs } or { tasks, latencies }; measured
 *   close()
 */
const adapter = await import(process.argv[2]);
let opened;

const verbs = {
  async open(given) {
    opened = await adapter.open(given);
    await opened.warmUp?.();
  },
  async fill(size) {
    const began = performance.now();
    await opened.fill?.(size);
    return { wallMs: performance.now() - began };
  },
  run: (size) => opened.run(size),
  roles: () => ({ ...opened.roles(), [process.pid]: "submitter" }),
  close: () => opened?.close(),
};

process.on("message", async ({ verb, given }) => {
  try {
    process.send({ answer: await verbs[verb](given) });
  } catch (error) {
    process.send({ error: error.stack });
  }
});
// The harness is gone: what it would have stopped ends with us.
process.on("disconnect", () => process.exit(1));
