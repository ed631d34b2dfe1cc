/**
 * Estimates the database's clock without a query: the last time that was read, plus the time since
 * then by this process's monotonic clock. Retry times are compared with the database's clock, so a
 * wrong wall clock of this machine must not set them.
 */
export class DatabaseClock {
  private readAt: { readonly now: number; readonly monotonic: number } | undefined;

  observe(now: number): void {
    this.readAt = { now, monotonic: performance.now() };
  }

  /** Undefined until the first observation. */
  now(): number | undefined {
    if (this.readAt === undefined) return undefined;
    return this.readAt.now + performance.now() - this.readAt.monotonic;
  }
}
