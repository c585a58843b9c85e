import { PassThrough } from 'node:stream';
import {
  type JSONRPCMessage,
  ReadBuffer,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client';

/** Both ends of the pipes between a client and a server, within one process. */
export function createPipe(): { stdin: PassThrough; stdout: PassThrough; transport: Transport } {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const received = new ReadBuffer();
  // Delivered one by one, as on the upstream side: the SDK would let an answer overtake progress.
  let delivery = Promise.resolve();
  const transport: Transport = {
    async start() {
      stdout.on('data', (chunk: Buffer) => {
        received.append(chunk);
        for (let message = received.readMessage(); message !== null; message = received.readMessage()) {
          const next: JSONRPCMessage = message;
          delivery = delivery.then(() => transport.onmessage?.(next));
        }
      });
    },
    async send(message) {
      stdin.write(serializeMessage(message));
    },
    async close() {
      stdin.end();
      transport.onclose?.();
    },
  };
  return { stdin, stdout, transport };
}
