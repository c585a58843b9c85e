/**
 * A child process of the sandbox: runs one run at a time, each in an isolate of its own that is made before
 * the run is known. Started with the path of isolated-vm; speaks over stdin and stdout.
 */
import type { HostMessage } from '../messages.ts';
import type { Packet } from '../wire.ts';
import { GuestRun } from './guest-run.ts';
import { type GuestIsolate, loadIsolates } from './isolate.ts';
import { openPipe } from './pipe.ts';
import { startWatch } from './watch.ts';

const DEFAULTS = {
  /** The isolate made ahead has the limit of the run before. */
  memoryMb: 128,
};

const makeIsolate = loadIsolates(process.argv[2]!);
const pipe = openPipe();
let spare = ready(DEFAULTS.memoryMb);
// Not before: a thread that comes up while a snapshot is made is one thing more that could wait for the other.
const watch = startWatch();

watch.wait();
pipe.send({ type: 'ready' });
setImmediate(serve);

/** One run; then a turn of the event loop, in which what the isolate left behind is let go. */
function serve(): void {
  const packet = pipe.receive();
  const { type } = packet.head as HostMessage;
  if (type === 'start') run(packet);
  // Anything else came too late for the run it was meant for.
  setImmediate(serve);
}

function run({ head, texts }: Packet): void {
  const start = head as HostMessage & { type: 'start' };
  const { memoryMb } = start.limits;
  watch.start(start.limits);
  const guest = spare.memoryMb === memoryMb ? spare : ready(memoryMb);
  const guestRun = new GuestRun(guest, start, pipe);
  guestRun.begin(texts);
  while (!guestRun.isOver) {
    guestRun.prepare();
    handle(guestRun, pipe.receive());
  }
  watch.stop();
  if (guest !== spare) spare.isolate.dispose();
  spare = ready(memoryMb);
}

function handle(guestRun: GuestRun, { head, texts }: Packet): void {
  const message = head as HostMessage;
  if (message.type === 'reply') guestRun.reply(message, texts[0]!);
  else if (message.type === 'entry') guestRun.entry(message, texts);
  else guestRun.stop();
}

function ready(memoryMb: number): GuestIsolate {
  const guest = makeIsolate(memoryMb);
  guest.prepareRealms(1);
  return guest;
}
