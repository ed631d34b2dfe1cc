/** Asks for addresses, each once, a few at a time over connections that stay open. */
import http from "node:http";

export async function timeRequests(addresses, atOnce) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: atOnce });
  const durations = [];
  let next = 0;
  const begun = performance.now();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let url = addresses[next++]; url !== undefined; url = addresses[next++]) {
        const from = performance.now();
        await ask(url, agent);
        durations.push(performance.now() - from);
      }
    }),
  );
  const seconds = (performance.now() - begun) / 1000;
  agent.destroy();
  durations.sort((a, b) => a - b);
  const at = (share) => durations[Math.floor(share * (durations.length - 1))];
  return { rate: addresses.length / seconds, p50: at(0.5), p95: at(0.95) };
}

function ask(url, agent) {
  return new Promise((resolve, reject) => {
    http
      .get(url, { agent }, (response) => {
        response.on("error", reject).on("end", resolve).resume();
        if (response.statusCode !== 200 && response.statusCode !== 204) {
          reject(new Error(`${url}: ${response.statusCode}`));
        }
      })
      .on("error", reject);
  });
}
