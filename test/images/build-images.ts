/**
 * Builds the images of deploy/ with buildah. Their base is made on this machine: Debian by debootstrap, and
 * the Node.js that runs this, so that no registry is needed.
 */
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

const root = path.resolve(import.meta.dirname, "../..");
const base = "localhost/rmhdag-test-node";
const certificates = "/etc/ssl/certs/ca-certificates.crt";

/** By program: the image's name. */
export const images = {
  orchestrator: "localhost/rmhdagmaster",
  worker: "localhost/rmhdagworker",
  gateway: "localhost/rmhdaggateway",
} as const;
export type ImageName = keyof typeof images;

const files: Record<ImageName, string> = {
  orchestrator: "Dockerfile",
  worker: "Dockerfile.worker",
  gateway: "Dockerfile.gateway",
};

export async function run(command: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, {
    cwd: root,
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout.trim();
}

/** With TEST_IMAGES=built, takes the images of the last run. */
export async function buildImages(): Promise<void> {
  await checkPrograms();
  if (process.env["TEST_IMAGES"] === "built") return;
  if (!(await exists(base))) await buildBase();
  for (const [name, image] of Object.entries(images) as [ImageName, string][]) {
    const options = [
      "--layers",
      "--format",
      "docker",
      "--isolation",
      "chroot",
      "--network",
      "host",
    ];
    const file = `deploy/${files[name]}`;
    const from = ["--build-arg", `NODE_IMAGE=${base}`];
    await run("buildah", "bud", "--quiet", ...options, ...from, "-f", file, "-t", image, ".");
  }
}

/** Before anything is built: the images take ten minutes, and only the last test starts them. */
async function checkPrograms(): Promise<void> {
  for (const program of ["buildah", "debootstrap", "runc"]) {
    await run("which", program).catch((cause: unknown) => {
      throw new Error(`${program} is missing: apt-get install buildah debootstrap runc`, { cause });
    });
  }
}

async function exists(image: string): Promise<boolean> {
  return run("buildah", "inspect", "--type", "image", image).then(
    () => true,
    () => false,
  );
}

async function buildBase(): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), "rmhdag-base-"));
  try {
    const release =
      (await run("sh", "-c", '. /etc/os-release; echo "$VERSION_CODENAME"')) || "bookworm";
    await run("debootstrap", "--variant=minbase", "--include=ca-certificates", release, folder);
    await rm(path.join(folder, "var/cache/apt/archives"), { recursive: true, force: true });
    await cp(process.execPath, path.join(folder, "usr/bin/node"));
    const npm = path.dirname(path.dirname(await realpath(await run("which", "npm"))));
    await mkdir(path.join(folder, "usr/lib/node_modules"), { recursive: true });
    await cp(npm, path.join(folder, "usr/lib/node_modules/npm"), { recursive: true });
    await symlink("../lib/node_modules/npm/bin/npm-cli.js", path.join(folder, "usr/bin/npm"));
    await cp(certificates, path.join(folder, certificates), { dereference: true });
    const container = await run("buildah", "from", "scratch");
    await run("buildah", "copy", "--quiet", container, folder, "/");
    await run("buildah", "config", "--env", `NODE_EXTRA_CA_CERTS=${certificates}`, container);
    await run("buildah", "commit", "--quiet", container, base);
    await run("buildah", "rm", container);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
