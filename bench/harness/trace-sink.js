/** Takes traces as a collector does, and drops them. Its time is that of the harness, which is not counted. */
import { createServer } from "node:http";

export async function startTraceSink() {
  let requests = 0;
  const server = createServer((request, response) => {
    requests++;
    request.resume().on("end", () => response.end());
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** Answers how many requests came. */
    close() {
      server.closeAllConnections();
      server.close();
      return requests;
    },
  };
}
