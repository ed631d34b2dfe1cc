import { makeProgramUser } from "../support/database-user.ts";

/** By program: the address of the database with a user of its own. */
export interface ProgramUrls {
  readonly orchestrator: string;
  readonly worker: string;
  readonly gateway: string;
  remove(): Promise<void>;
}

export async function makeUrls(databaseUrl: string): Promise<ProgramUrls> {
  const orchestrator = await makeProgramUser(databaseUrl, "rmhdag_orchestrator");
  const worker = await makeProgramUser(databaseUrl, "rmhdag_worker");
  const gateway = await makeProgramUser(databaseUrl, "rmhdag_gateway");
  return {
    orchestrator: orchestrator.url,
    worker: worker.url,
    gateway: gateway.url,
    remove: async () => {
      for (const user of [orchestrator, worker, gateway]) await user.remove();
    },
  };
}
