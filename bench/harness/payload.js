/** About ninety bytes, the same for everybody. */
export const payload =
  "about ninety bytes of text that every engine carries for every task of every workload";
