/** Who takes part, in which workloads, and where a peer gets another size than the others. */
const here = (file) => new URL(`../${file}`, import.meta.url).href;
const plain = [{}];

export const peers = [
  {
    id: "ours",
    label: "rmhdagmaster",
    module: here("ours/adapter.js"),
    workloads: {
      W1: plain,
      W2: plain,
      W3: plain,
      W4: plain,
      W5: [{ note: "jobs of 1,000 tasks" }, { as: "W5one", note: "one job" }],
    },
  },
];

export const peerIds = peers.map(({ id }) => id);
