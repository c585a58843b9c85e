/**
 * How host and child talk: a small JSON head, and beside it texts that are not escaped once more (scripts,
 * arguments, results). In bytes, little endian:
 *
 *   u32 length of what follows | u32 length of the head | u32 number of texts | u32 length of each text | head | texts
 */
export interface Packet {
  readonly head: unknown;
  readonly texts: readonly string[];
}

const WORD = 4;

export function encodePacket(head: unknown, texts: readonly string[] = []): Buffer {
  const headText = JSON.stringify(head);
  const headBytes = Buffer.byteLength(headText);
  const sizes = texts.map((text) => Buffer.byteLength(text));
  const bytes = sizes.reduce((sum, size) => sum + size, WORD * (3 + sizes.length) + headBytes);
  const packet = Buffer.allocUnsafe(bytes);
  let at = packet.writeUInt32LE(bytes - WORD, 0);
  at = packet.writeUInt32LE(headBytes, at);
  at = packet.writeUInt32LE(sizes.length, at);
  for (const size of sizes) at = packet.writeUInt32LE(size, at);
  at += packet.write(headText, at);
  for (const text of texts) at += packet.write(text, at);
  return packet;
}

/** Puts packets together from the pieces a pipe delivers; throws on anything that is not a packet or is longer than allowed. */
export class PacketReader {
  #pieces: Buffer[] = [];
  #bytes = 0;
  #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  set maxBytes(value: number) {
    this.#maxBytes = value;
  }

  /** Keeps `piece`; it must not be written to afterwards. */
  push(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
  }

  /** The next whole packet; undefined while there is none. */
  next(): Packet | undefined {
    if (this.#bytes < WORD) return undefined;
    const length = this.#join(WORD).readUInt32LE(0);
    if (length > this.#maxBytes) throw new RangeError(`a message of ${length} bytes`);
    if (this.#bytes < WORD + length) return undefined;
    const whole = this.#join(WORD + length);
    const rest = whole.subarray(WORD + length);
    this.#pieces = rest.length === 0 ? [] : [rest, ...this.#pieces.slice(1)];
    this.#bytes -= WORD + length;
    return decode(whole.subarray(WORD, WORD + length));
  }

  /** The first piece, at least `length` long. */
  #join(length: number): Buffer {
    const [first] = this.#pieces;
    if (first && first.length >= length) return first;
    const whole = Buffer.concat(this.#pieces);
    this.#pieces = [whole];
    return whole;
  }
}

function decode(packet: Buffer): Packet {
  const headBytes = packet.readUInt32LE(0);
  const count = packet.readUInt32LE(WORD);
  let at = WORD * (2 + count);
  const slice = (size: number) => {
    if (at + size > packet.length) throw new RangeError('a message shorter than it says');
    const text = packet.toString('utf8', at, at + size);
    at += size;
    return text;
  };
  const head: unknown = JSON.parse(slice(headBytes));
  const texts: string[] = [];
  for (let i = 0; i < count; i++) texts.push(slice(packet.readUInt32LE(WORD * (2 + i))));
  return { head, texts };
}
