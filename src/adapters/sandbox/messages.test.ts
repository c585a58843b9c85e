import fc from 'fast-check';
import { expect, test } from 'vitest';
import { proofSeed } from '../../../test/proof-count.ts';
import { encodePacket, type Packet, PacketReader } from './messages.ts';

const everything = (reader: PacketReader): Packet[] => {
  const packets: Packet[] = [];
  for (let packet = reader.next(); packet; packet = reader.next()) packets.push(packet);
  return packets;
};

test('[BOX-17] packets arrive as they were sent, however the pipe splits them', () => {
  const packet = fc.record({
    head: fc.record({ type: fc.string(), call: fc.nat() }),
    texts: fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 3 }),
  });
  fc.assert(
    fc.property(
      fc.array(packet, { maxLength: 5 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 40 })),
      (sent, cuts) => {
        const bytes = Buffer.concat(sent.map(({ head, texts }) => encodePacket(head, texts)));
        const reader = new PacketReader(2 ** 20);
        const got: Packet[] = [];
        for (let at = 0; at < bytes.length; ) {
          const size = cuts.next().value as number;
          reader.push(bytes.subarray(at, at + size));
          got.push(...everything(reader));
          at += size;
        }
        expect(got).toEqual(sent);
      },
    ),
    { seed: proofSeed() },
  );
});

test('[BOX-17] a packet that is too long is refused before it is read, and one that is too short is refused too', () => {
  const long = new PacketReader(100);
  long.push(encodePacket({ type: 'print' }, ['x'.repeat(200)]).subarray(0, 8));
  expect(() => long.next()).toThrow('bytes');
  const short = new PacketReader(100);
  const lie = encodePacket({ type: 'print' }, ['text']);
  lie.writeUInt32LE(90, 12);
  short.push(lie);
  expect(() => short.next()).toThrow('shorter');
});
