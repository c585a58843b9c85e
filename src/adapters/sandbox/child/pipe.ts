import { readSync, writeSync } from 'node:fs';
import type { ChildMessage } from '../messages.ts';
import { encodePacket, type Packet, PacketReader } from '../wire.ts';

const DEFAULTS = {
  /** Bytes read at once. */
  chunk: 64 * 1024,
  /** The host is trusted with its own sizes. */
  maxBytes: 2 ** 31,
};

const STDIN = 0;
const STDOUT = 1;

/**
 * The child's end of the pipes, blocking: the child never has anything else to do while it waits, and
 * waking from a blocking read is twice as fast as a turn of the event loop.
 */
export interface Pipe {
  /** The next packet; ends the process when the host is gone. */
  receive(): Packet;
  send(message: ChildMessage, ...texts: string[]): void;
}

export function openPipe(): Pipe {
  const reader = new PacketReader(DEFAULTS.maxBytes);
  const chunk = Buffer.allocUnsafeSlow(DEFAULTS.chunk);
  return {
    receive() {
      for (;;) {
        const packet = reader.next();
        if (packet) return packet;
        const bytes = orExit(() => readSync(STDIN, chunk));
        if (bytes === 0) process.exit(0);
        reader.push(Buffer.from(chunk.subarray(0, bytes)));
      }
    },
    send(message, ...texts) {
      const packet = encodePacket(message, texts);
      for (let sent = 0; sent < packet.length; ) {
        sent += orExit(() => writeSync(STDOUT, packet, sent, packet.length - sent));
      }
    },
  };
}

/** Nobody listens any more, so nobody can be told. */
function orExit(work: () => number): number {
  for (;;) {
    try {
      return work();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'EAGAIN' && code !== 'EINTR') process.exit(0);
    }
  }
}
