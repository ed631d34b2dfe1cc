/**
 * A stand-in for Azure Service Bus: an AMQP 1.0 server in memory that speaks as much of the dialect as
 * the unmodified client needs for queues, dead letters, locks, peeking and settling by lock token.
 */
import { Buffer } from "node:buffer";
import { randomUUID } from "node:crypto";
import { clearTimeout, setImmediate, setTimeout } from "node:timers";
import rhea from "rhea";

const { message: codec, types } = rhea;
/** The format of a message that carries a batch: each of its data sections is a message. */
const batchFormat = 0x80013700;
const deadSuffix = "/$deadletterqueue";
const lockLost = "com.microsoft:message-lock-lost";

const accepted = () => codec.accepted().described();
const rejected = (condition) =>
  codec
    .rejected({ error: { condition, description: "The lock supplied is invalid." } })
    .described();

/** The delivery tag of a message is its lock token with the first three groups reversed. */
function tokenOf(tag) {
  const order = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
  return rhea.uuid_to_string(Buffer.from(order.map((index) => tag[index])));
}

/** The credit that is left: rhea takes it off only when the frame is written. */
function creditOf(link) {
  const { next_delivery_id, next_pending_delivery } = link.session.outgoing;
  return link.credit - (next_delivery_id - next_pending_delivery);
}

const toNumber = (value) =>
  Buffer.isBuffer(value) ? Number(value.readBigInt64BE()) : Number(value);

class Queue {
  waiting = [];
  /** By lock token. */
  locked = new Map();
  links = new Set();
  isPumping = false;

  constructor(bus, name, dead) {
    this.bus = bus;
    this.name = name;
    this.dead = dead;
  }

  add(message) {
    message.message_id ??= randomUUID();
    this.insert({ sequence: ++this.bus.sequence, message, count: 0 });
  }

  /** A message that comes back gets its old place. */
  insert(entry) {
    const next = this.waiting.findIndex(({ sequence }) => sequence > entry.sequence);
    this.waiting.splice(next < 0 ? this.waiting.length : next, 0, entry);
    this.pump();
  }

  lock(entry) {
    entry.tag = rhea.string_to_uuid(randomUUID());
    entry.token = tokenOf(entry.tag);
    this.locked.set(entry.token, entry);
    this.renew(entry);
  }

  renew(entry) {
    clearTimeout(entry.timer);
    entry.until = Date.now() + this.bus.lockMs;
    entry.timer = setTimeout(() => this.settle(entry.token, "abandoned"), this.bus.lockMs).unref();
    return entry.until;
  }

  /** Answers false when the lock is gone. */
  settle(token, status, reason) {
    const entry = this.locked.get(token);
    if (entry === undefined) return false;
    clearTimeout(entry.timer);
    this.locked.delete(token);
    if (status === "completed") return true;
    entry.count += 1;
    if (status === "suspended") this.bury(entry, reason);
    else if (entry.count < this.bus.maxDeliveryCount || this.dead === undefined) this.insert(entry);
    else this.bury(entry, "MaxDeliveryCountExceeded");
    return true;
  }

  bury(entry, reason) {
    const { message } = entry;
    const application_properties = { ...message.application_properties, DeadLetterReason: reason };
    this.dead.insert({ ...entry, message: { ...message, application_properties } });
  }

  encode({ message, count, sequence, until }) {
    return codec.encode({
      ...message,
      delivery_count: count,
      message_annotations: {
        ...message.message_annotations,
        "x-opt-enqueued-time": types.wrap_timestamp(Date.now()),
        "x-opt-sequence-number": types.wrap_long(sequence),
        "x-opt-locked-until": types.wrap_timestamp(until ?? 0),
      },
    });
  }

  /** Sends to the links with credit, in turn. */
  pump() {
    if (this.isPumping) return;
    this.isPumping = true;
    for (let hasSent = true; hasSent && this.waiting.length > 0;) {
      hasSent = false;
      for (const link of this.links) {
        if (this.waiting.length === 0) break;
        if (!link.is_open() || !link.sendable() || creditOf(link) <= 0) continue;
        const entry = this.waiting.shift();
        this.lock(entry);
        link.send(this.encode(entry), entry.tag, 0).lockToken = entry.token;
        hasSent = true;
      }
    }
    this.isPumping = false;
    for (const link of this.links) {
      if (link._draining !== true || (this.waiting.length > 0 && creditOf(link) > 0)) continue;
      link.set_drained(true);
      link.connection._register();
    }
  }
}

export class ServiceBusServer {
  lockMs = 30_000;
  maxDeliveryCount = 10;
  sequence = 0;
  queues = new Map();
  connections = new Set();

  /** The real service answers that the queue is missing; here every queue is there. */
  queueOf(address) {
    const [, name, dead] = /^(.*?)(\/\$deadletterqueue)?(?:\/\$management)?$/i.exec(address);
    const made =
      this.queues.get(name) ?? new Queue(this, name, new Queue(this, name + deadSuffix, undefined));
    this.queues.set(name, made);
    return dead === undefined ? made : made.dead;
  }

  async listen(port = 0) {
    const container = rhea.create_container({ id: "service-bus-server" });
    container.sasl_server_mechanisms.enable_anonymous();
    container.on("connection_open", ({ connection }) => this.connections.add(connection));
    for (const event of ["connection_close", "disconnected"]) {
      container.on(event, ({ connection }) => this.forget(connection));
    }
    for (const event of ["connection_error", "session_error", "error", "protocol_error"]) {
      container.on(event, () => undefined);
    }
    container.on("receiver_open", ({ receiver }) => this.openSending(receiver));
    container.on("sender_open", ({ sender }) => this.openReceiving(sender));
    container.on("sender_close", ({ sender }) => sender.queue?.links.delete(sender));
    container.on("session_close", ({ session }) =>
      session.each_sender((sender) => sender.queue?.links.delete(sender)),
    );
    container.on("message", (context) => this.take(context));
    const settled = { accepted: "completed", released: "abandoned", modified: "abandoned" };
    for (const [event, status] of Object.entries({ ...settled, rejected: "suspended" })) {
      container.on(event, ({ sender, delivery }) => this.settle(sender, delivery, status));
    }
    for (const event of ["sender_flow", "sendable"]) {
      container.on(event, ({ sender }) => setImmediate(() => sender.queue?.pump()));
    }
    this.server = container.listen({
      port,
      host: "127.0.0.1",
      max_frame_size: 65_536,
      channel_max: 4999,
      session_buffer_size: 65_536,
      sender_options: { autosettle: false, treat_modified_as_released: false },
      receiver_options: { autoaccept: false, credit_window: 1000 },
    });
    await new Promise((resolve, reject) =>
      this.server.once("listening", resolve).once("error", reject),
    );
    this.port = this.server.address().port;
  }

  get connectionString() {
    return (
      `Endpoint=sb://127.0.0.1:${this.port};SharedAccessKeyName=Root;SharedAccessKey=none;` +
      "UseDevelopmentEmulator=true;"
    );
  }

  forget(connection) {
    this.connections.delete(connection);
    for (const queue of [...this.queues.values()].flatMap((made) => [made, made.dead])) {
      for (const link of queue.links) {
        if (link.connection === connection) queue.links.delete(link);
      }
    }
  }

  /** Cuts all connections; messages stay, and their locks run on. */
  dropConnections() {
    for (const connection of [...this.connections]) {
      this.forget(connection);
      connection.socket.destroy();
    }
  }

  /** Refuses connections until `listen` is called with the same port; messages stay. */
  async close() {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.dropConnections();
    await closed;
  }

  describe() {
    return [...this.queues.values()]
      .flatMap((queue) => [queue, queue.dead])
      .map(
        ({ name, waiting, locked, links }) =>
          `${name}: ${waiting.length} wait, ${locked.size} are locked, ${links.size} links`,
      )
      .join("\n");
  }

  /** The client sends over this link. */
  openSending(link) {
    const address = link.target?.address ?? "";
    link.set_target({ address });
    if (link.source) link.set_source({ address: link.source.address });
    if (address === "$cbs") return;
    link.local.attach.max_message_size = 262_144;
    link.target_queue = this.queueOf(address);
    link.isManagement = address.endsWith("/$management");
  }

  /** The client receives over this link. */
  openReceiving(link) {
    const address = link.source?.address ?? "";
    link.set_source({ address });
    if (link.target) link.set_target({ address: link.target.address });
    if (address === "$cbs" || address.endsWith("/$management")) return;
    link.local.attach.snd_settle_mode = link.remote.attach.snd_settle_mode;
    link.local.attach.rcv_settle_mode = link.remote.attach.rcv_settle_mode;
    // Answers a drain also when there is no credit left, or each receive takes 200 ms more.
    link._get_drain = () => {
      if (!link._draining) return false;
      link.delivery_count += link.credit;
      link.credit = 0;
      return true;
    };
    link.queue = this.queueOf(address);
    link.queue.links.add(link);
  }

  take({ message, delivery, receiver, format, session }) {
    if (receiver.target_queue !== undefined && !receiver.isManagement) {
      const isBatch = format === batchFormat;
      const parts = isBatch ? [codec.decode(message).body.content].flat() : [];
      const messages = isBatch ? parts.map((part) => codec.decode(part)) : [message];
      for (const one of messages) receiver.target_queue.add(one);
      delivery.accept();
      return;
    }
    delivery.accept();
    const reply = (application_properties, body = null) =>
      session
        .find_sender(({ name }) => name === message.reply_to)
        ?.send({
          correlation_id: message.message_id,
          to: message.reply_to,
          body,
          application_properties,
        });
    // The two protocols of the same client spell it differently.
    if (receiver.target_queue === undefined) {
      reply({ "status-code": types.wrap_int(202), "status-description": "Accepted" });
      return;
    }
    const { operation } = message.application_properties;
    const { code, condition, body } = this.manage(receiver.target_queue, operation, message.body);
    const failure = condition === undefined ? {} : { errorCondition: condition };
    reply({ statusCode: types.wrap_int(code), statusDescription: operation, ...failure }, body);
  }

  settle(sender, delivery, status) {
    if (sender.queue === undefined || delivery.settled) return;
    const reason = delivery.remote_state?.error?.info?.DeadLetterReason;
    const isHeld = sender.queue.settle(delivery.lockToken, status, reason);
    delivery.update(true, isHeld ? accepted() : rejected(lockLost));
  }

  manage(queue, operation, body) {
    const lost = { code: 410, condition: lockLost };
    const tokens = (body?.["lock-tokens"] ?? []).map((token) => rhea.uuid_to_string(token));
    switch (operation) {
      case "com.microsoft:renew-lock": {
        const entries = tokens.map((token) => queue.locked.get(token));
        if (entries.includes(undefined)) return lost;
        const until = entries.map((entry) => queue.renew(entry));
        return { code: 200, body: { expirations: types.wrap_array(until, 0x83) } };
      }
      case "com.microsoft:update-disposition": {
        const status = body["disposition-status"];
        const reason = body["deadletter-reason"];
        return tokens.every((token) => queue.settle(token, status, reason)) ? { code: 200 } : lost;
      }
      case "com.microsoft:peek-message": {
        const from = toNumber(body["from-sequence-number"]);
        const found = [...queue.waiting, ...queue.locked.values()]
          .filter(({ sequence }) => sequence >= from)
          .sort((a, b) => a.sequence - b.sequence)
          .slice(0, body["message-count"]);
        if (found.length === 0) return { code: 204 };
        const messages = found.map((entry) => ({ message: queue.encode(entry) }));
        return { code: 200, body: { messages } };
      }
      default:
        return { code: 501 };
    }
  }
}
