import { readSync, writeSync } from 'node:fs';
import type { ChildMessage } from '../messages.ts';
import { encodePacket, type Packet, PacketReader } from '../messages.ts';

const DEFAULTS = {
  /** Bytes per read. */
  chunk: 64 * 1024,
  /** Only a sanity limit: the host is trusted. */
  maxBytes: 2 ** 31,
};

const STDIN = 0;
const STDOUT = 1;

/**
 * The child's end of the pipes. It blocks: the child has nothing else to do while it waits, and waking from a
 * blocking read is twice as fast as a turn of the event loop.
 */
export interface Pipe {
  /** Returns the next packet; exits the process when the host is gone. */
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

/** Exits if the pipe is broken: the host is gone, so there is nobody to report to. */
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
