/** Peers that npm does not have, installed once into the user's cache folder: Prefect from PyPI. */
import path from "node:path";
import { installPython } from "../../scripts/install-python.js";

/** Its server uses an argument that newer versions of FastAPI no longer have. */
const beside = ["asyncpg", "fastapi==0.139.0"];

const tools = {
  prefect: { version: "3.8.8", packages: ["prefect==3.8.8", ...beside] },
};

/** Answers { path, version }, or { missing } with the reason: then the peer's rows say it. */
export function prepareTool(name) {
  const { version, packages } = tools[name];
  try {
    return { path: path.join(installPython(name, packages), name), version };
  } catch (error) {
    return { missing: error.message };
  }
}
