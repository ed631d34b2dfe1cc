/**
 * Everything on one machine: the database, an orchestrator, workers and the gateway, each a process
 * of its own.
 * Stopping goes the other way: workers hand back what they do while there is somebody to take it,
 * the orchestrator hands back its jobs while there is a database.
 */
import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import type { CliConfig } from "../config.ts";
import { Failure } from "../failure.ts";
import type { Site, WorkerKind } from "./environment.ts";
import { gatewayEnvironment, orchestratorEnvironment, workerEnvironment } from "./environment.ts";
import { findPort } from "./find-port.ts";
import { announceUrl, localFiles, readOrMakeToken, withdrawUrl } from "./local-files.ts";
import { makeGatewayUser } from "./make-gateway-user.ts";
import { openDatabase } from "./open-database.ts";
import { spawnProgram } from "./spawn-program.ts";
import type { Supervised } from "./supervise.ts";
import { supervise } from "./supervise.ts";
import { waitUntilReady } from "./wait-until-ready.ts";

export interface SiteOptions {
  readonly config: CliConfig;
  readonly dataFolder: string;
  readonly host: string;
  readonly port: number;
  readonly gatewayPort: number;
  readonly workers: readonly WorkerKind[];
  /** A line of a program, or of "up" itself. */
  readonly onLine: (program: string, line: string) => void;
  /** A program cannot run as it is set up; the site must be stopped. */
  readonly onHopeless: (reason: string) => void;
  /** Asked between the steps of the start, which it ends. */
  readonly signal: AbortSignal;
}

export interface RunningSite {
  readonly url: string;
  /** Undefined where the database lets nobody make a user for it. */
  readonly gatewayUrl: string | undefined;
  readonly cliToken: string;
  readonly database: string;
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
    await makeFolder(dataFolder);
    const port = await findPort(host, this.options.port);
    const gatewayPort = await findPort(host, this.options.gatewayPort, "--gateway-port");
    const files = localFiles(dataFolder);
    const cliToken = await readOrMakeToken(files.cliToken);
    const serviceToken = await readOrMakeToken(files.serviceToken);
    const gatewayToken = await readOrMakeToken(files.gatewayToken);
    const callbackKey = await readOrMakeToken(files.callbackKey);
    const gatewayPassword = await readOrMakeToken(files.gatewayPassword);
    const database = await openDatabase(config, dataFolder, say);
    this.closeDatabase = database.close;
    signal.throwIfAborted();

    const site: Site = {
      ownerId: `up-${randomBytes(4).toString("hex")}`,
      databaseUrl: database.url,
      dataFolder,
      host,
      port,
      cliToken,
      serviceToken,
      gatewayToken,
      callbackKey,
    };
    this.run("orchestrator", () =>
      spawnProgram("orchestrator", orchestratorEnvironment(config, site), "pipe"),
    );
    const url = urlOf(host, port);
    // Workers come second: on a new database it is the orchestrator that declares the queues.
    await waitUntilReady(url, signal);
    for (const { name, kind } of nameWorkers(this.options.workers)) {
      this.run(name, () =>
        spawnProgram("worker", workerEnvironment(config, site, { name, kind }), "pipe"),
      );
    }
    const gatewayUser = await makeGatewayUser(database.url, gatewayPassword, say);
    const gatewayUrl = gatewayUser && urlOf(host, gatewayPort);
    if (gatewayUser !== undefined && gatewayUrl !== undefined) {
      const place = { databaseUrl: gatewayUser, orchestratorUrl: url, port: gatewayPort };
      this.run("gateway", () =>
        spawnProgram("gateway", gatewayEnvironment(config, site, place), "pipe"),
      );
      await waitUntilReady(gatewayUrl, signal);
    }
    await announceUrl(files.url, url);
    this.withdraw = () => withdrawUrl(files.url, url);
    return { url, gatewayUrl, cliToken, database: database.description };
  }

  private run(name: string, spawn: Parameters<typeof supervise>[0]["spawn"]): void {
    const { onLine, onHopeless } = this.options;
    this.programs.push(
      supervise({
        name,
        spawn,
        onHopeless,
        onLine: (line) => {
          onLine(name, line);
        },
        onNews: (line) => {
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

  /** The database stops by itself when nobody is left that owns it. */
  kill(): void {
    for (const program of this.programs) program.kill();
  }
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Failure(`${reason}: choose another folder with --data-dir.`);
  }
}

/** light, light-2, heavy: the names under which their lines appear. */
function nameWorkers(kinds: readonly WorkerKind[]): { name: string; kind: WorkerKind }[] {
  const counts = new Map<WorkerKind, number>();
  return kinds.map((kind) => {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return { name: count === 1 ? kind : `${kind}-${count}`, kind };
  });
}

/** Who listens everywhere is reached on this machine by its own address. */
function urlOf(host: string, port: number): string {
  if (host === "0.0.0.0" || host === "::") return `http://127.0.0.1:${port}`;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
