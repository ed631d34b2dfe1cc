/**
 * Runs a whole site on one machine: the database, an orchestrator, workers and the gateway, each as
 * its own process. They stop in reverse order: workers return their tasks while the orchestrator
 * runs, and the orchestrator releases its jobs while the database runs.
 */
import { randomBytes } from "node:crypto";
import { createClient } from "../../core/api/client.ts";
import type { CliConfig } from "../common/config.ts";
import { Failure } from "../common/failure.ts";
import type { Site, WorkerKind } from "./environment.ts";
import {
  gatewayEnvironment,
  makeWorkerId,
  orchestratorEnvironment,
  workerEnvironment,
} from "./environment.ts";
import { findPort, waitForWorkers, waitUntilReady } from "./ports.ts";
import { announceUrl, localFiles, readOrMakeToken, withdrawUrl } from "./local-files.ts";
import { makeProgramUsers, openDatabase } from "./open-database.ts";
import { spawnProgram } from "./spawn-program.ts";
import type { Supervised } from "./supervise.ts";
import { supervise } from "./supervise.ts";
import { makeFolder } from "../../adapters/runtime/make-folder.ts";

export interface SiteOptions {
  readonly config: CliConfig;
  readonly dataFolder: string;
  readonly host: string;
  readonly port: number;
  readonly gatewayPort: number;
  readonly workers: readonly WorkerKind[];
  /** Called with each line that a program prints, and with messages of "up" itself. */
  readonly onLine: (program: string, line: string) => void;
  /** A program cannot start with its settings; the caller must stop the site. */
  readonly onFatal: (reason: string) => void;
  /** Ends the start between two of its steps. */
  readonly signal: AbortSignal;
}

export interface RunningSite {
  readonly url: string;
  /** Undefined: no gateway runs, because the database user may not create the gateway's user. */
  readonly gatewayUrl: string | undefined;
  readonly cliToken: string;
  readonly database: string;
  /** A link to a page of this site that signs a browser in, once and within minutes. */
  readonly loginUrl: (next?: string) => Promise<string>;
}

export class SiteRunner {
  private readonly options: SiteOptions;
  private readonly programs: Supervised[] = [];
  private closeDatabase: () => Promise<void> = async () => undefined;
  private withdraw: () => Promise<void> = async () => undefined;

  constructor(options: SiteOptions) {
    this.options = options;
  }

  async start(): Promise<RunningSite> {
    const { config, dataFolder, host, signal } = this.options;
    const say = (line: string): void => {
      this.options.onLine("up", line);
    };
    await makeDataFolder(dataFolder);
    // A free port (0) is found just before its program listens: PostgreSQL chooses one too meanwhile.
    const findOrchestratorPort = async () => findPort(host, this.options.port);
    const findGatewayPort = async () => findPort(host, this.options.gatewayPort, "--gateway-port");
    await findOrchestratorPort();
    await findGatewayPort();
    const files = localFiles(dataFolder);
    const cliToken = await readOrMakeToken(files.cliToken);
    const serviceToken = await readOrMakeToken(files.serviceToken);
    const gatewayToken = await readOrMakeToken(files.gatewayToken);
    const callbackKey = await readOrMakeToken(files.callbackKey);
    const passwords = {
      orchestrator: await readOrMakeToken(files.orchestratorPassword),
      worker: await readOrMakeToken(files.workerPassword),
      gateway: await readOrMakeToken(files.gatewayPassword),
    };
    const database = await openDatabase(config, dataFolder, say, this.options.onFatal);
    this.closeDatabase = database.close;
    signal.throwIfAborted();
    const databaseUrls = await makeProgramUsers(database.url, passwords, say);

    const site: Site = {
      ownerId: `up-${randomBytes(4).toString("hex")}`,
      databaseUrls,
      ownerUrl: database.ownerUrl,
      dataFolder,
      host,
      port: await findOrchestratorPort(),
      cliToken,
      serviceToken,
      gatewayToken,
      callbackKey,
    };
    this.run("orchestrator", () =>
      spawnProgram("orchestrator", orchestratorEnvironment(config, site), "pipe"),
    );
    const url = urlOf(host, site.port);
    // Workers start second: on a new database the orchestrator must declare the queues first.
    await waitUntilReady(url, signal);
    for (const { name, kind } of nameWorkers(this.options.workers)) {
      let id: string | undefined;
      this.run(name, () => {
        const replaces = id;
        id = makeWorkerId(name);
        return spawnProgram(
          "worker",
          workerEnvironment(config, site, { id, kind, replaces }),
          "pipe",
        );
      });
    }
    let gatewayUrl: string | undefined;
    if (databaseUrls.gateway !== undefined) {
      const gatewayPort = await findGatewayPort();
      gatewayUrl = urlOf(host, gatewayPort);
      const gateway = {
        databaseUrl: databaseUrls.gateway,
        orchestratorUrl: url,
        port: gatewayPort,
      };
      this.run("gateway", () =>
        spawnProgram("gateway", gatewayEnvironment(config, site, gateway), "pipe"),
      );
      await waitUntilReady(gatewayUrl, signal);
    }
    const client = createClient({ baseUrl: url, token: cliToken, fetch });
    if ((config.environment["RMHDAG_HANDLERS"] ?? "") !== "") {
      // Workflows that name the user's handlers can be submitted once a worker offers them.
      await waitForWorkers(client, this.options.workers.length, signal);
    }
    await announceUrl(files.url, url);
    this.withdraw = () => withdrawUrl(files.url, url);
    return {
      url,
      gatewayUrl,
      cliToken,
      database: database.description,
      loginUrl: async (next) => {
        const makeCode = () => client.createLoginCode({ body: { next } });
        // The orchestrator may just have closed the idle connection of the wait for readiness; fetch repeats no POST.
        return (await makeCode().catch(makeCode)).url;
      },
    };
  }

  private run(name: string, spawn: Parameters<typeof supervise>[0]["spawn"]): void {
    const { onLine, onFatal } = this.options;
    this.programs.push(
      supervise({
        name,
        spawn,
        onFatal,
        onLine: (line) => {
          onLine(name, line);
        },
        onEvent: (line) => {
          onLine("up", line);
        },
      }),
    );
  }

  async stop(): Promise<void> {
    await this.withdraw();
    const [orchestrator, ...others] = this.programs;
    await Promise.all(others.map((program) => program.stop()));
    await orchestrator?.stop();
    await this.closeDatabase();
  }

  /** Kills the programs. The embedded database stops by itself when its last owner is gone. */
  kill(): void {
    for (const program of this.programs) program.kill();
  }
}

async function makeDataFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder, 0o700);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Failure(`${reason}: choose another folder with --data-dir.`);
  }
}

/** Names such as light, light-2 and heavy, which stand before the workers' log lines. */
function nameWorkers(kinds: readonly WorkerKind[]): { name: string; kind: WorkerKind }[] {
  const counts = new Map<WorkerKind, number>();
  return kinds.map((kind) => {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return { name: count === 1 ? kind : `${kind}-${count}`, kind };
  });
}

/**
 * The URL of a program on this machine; 127.0.0.1 for a program that listens on all addresses.
 */
function urlOf(host: string, port: number): string {
  if (host === "0.0.0.0" || host === "::") return `http://127.0.0.1:${port}`;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
