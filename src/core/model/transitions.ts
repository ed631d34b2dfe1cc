/** A state machine written once: the code checks it, the docs draw it, the database guards it. */
export interface StateMachine<State extends string> {
  readonly name: string;
  readonly initial: State;
  /** From each state, the states that may follow and what makes it happen. */
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
