export declare class ServiceBusServer {
  lockMs: number;
  maxDeliveryCount: number;
  readonly port: number;
  readonly connectionString: string;
  listen(port?: number): Promise<void>;
  /** Cuts all connections; messages stay, and their locks run on. */
  dropConnections(): void;
  /** Refuses connections until `listen` is called with the same port; messages stay. */
  close(): Promise<void>;
  /** One line for each queue: how many messages wait, are locked, and over how many links it sends. */
  describe(): string;
}
