import { deserializeMessage, type JSONRPCMessage } from '@modelcontextprotocol/client';

const NEWLINE = 10;

export interface MessageLinesOptions {
  /** Bytes of one message; a server that goes beyond is cut off. */
  readonly limit: number;
  onMessage(message: JSONRPCMessage): void;
  /** A line that is no message: servers print banners and debug output where they should not. */
  onGarbage(line: string): void;
}

/** Splits a byte stream into JSON-RPC messages, one per line. Throws when a line passes the limit. */
export class MessageLines {
  readonly #options: MessageLinesOptions;
  /** Pieces of the line that is not yet complete, joined once: appending would copy it each time. */
  #pieces: Buffer[] = [];
  #size = 0;

  constructor(options: MessageLinesOptions) {
    this.#options = options;
  }

  append(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      this.#keep(chunk.subarray(from, at));
      from = at + 1;
      this.#finishLine();
    }
    this.#keep(chunk.subarray(from));
  }

  #keep(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#size += piece.length;
    if (this.#size > this.#options.limit) {
      throw new RangeError(`a message is larger than ${this.#options.limit} bytes`);
    }
    this.#pieces.push(piece);
  }

  #finishLine(): void {
    const line = Buffer.concat(this.#pieces).toString('utf8').trim();
    this.#pieces = [];
    this.#size = 0;
    if (line === '') return;
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch {
      this.#options.onGarbage(line);
      return;
    }
    this.#options.onMessage(message);
  }
}
