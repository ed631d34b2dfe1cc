/** A state machine as data: the code checks it, the docs draw it, and the database guards it. */
export interface StateMachine<State extends string> {
  readonly name: string;
  readonly initial: State;
  /** For each state, the states that may follow, with the cause of each transition. */
  readonly transitions: Readonly<Record<State, Partial<Readonly<Record<State, string>>>>>;
}

export function mayBecome<State extends string>(
  machine: StateMachine<State>,
  from: State,
  to: State,
): boolean {
  return machine.transitions[from][to] !== undefined;
}

export function isTerminal<State extends string>(
  machine: StateMachine<State>,
  state: State,
): boolean {
  return Object.keys(machine.transitions[state]).length === 0;
}
