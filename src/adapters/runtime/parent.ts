/**
 * A program that `rmhdag up` started ends with it, however that ends. The parent holds the other end
 * of an IPC channel and says nothing on it: the kernel closes the channel even after `kill -9`, so
 * there is no pid to watch, and none that could be reused.
 */

/** A child that has not stopped by then, perhaps because its database is gone as well, just ends. */
const patienceMs = 10_000;

/** Calls `onGone` once when the parent is gone; does nothing in a program that has no such parent. */
export function stopWithParent(onGone: () => void): void {
  if (process.send === undefined) return;
  if (process.connected) {
    process.once("disconnect", () => {
      leave(onGone);
    });
    // Listening alone must not keep a program alive that has nothing else to do.
    process.channel?.unref();
  } else {
    // It went before this call, and its event with it.
    leave(onGone);
  }
}

function leave(onGone: () => void): void {
  setTimeout(() => process.exit(1), patienceMs).unref();
  onGone();
}
