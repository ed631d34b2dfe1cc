/** The limits of values, as docs/workflow-language.md lists them. */
export const valueLimits = {
  /** A larger value is kept in storage, and a reference to it stands in rows and messages. */
  inline: 256 * 1024,
  /** The output of one task. */
  output: 16 * 1024 * 1024,
  /** Everything that one template gives: parameters, a source, outputs; and what a fan-in collects. */
  value: 64 * 1024 * 1024,
  /** A text that a template builds from parts. A value that is inserted whole is not built. */
  text: 1024 * 1024,
  /** Nesting of lists and objects. */
  depth: 64,
} as const;

/** The most children that MAX_FAN_OUT may allow, and so the longest list that `range` makes. */
export const mostChildren = 1_000_000;
