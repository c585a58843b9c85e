/**
 * A child process of the sandbox. It serves one run at a time, each in its own isolate, which is created
 * before the run arrives. Its argument is the path of isolated-vm; it talks to the host over stdin and
 * stdout.
 */
import { type HostMessage, openPipe, type Packet } from '../messages.ts';
import { GuestRun } from './guest-run.ts';
import { type GuestIsolate, loadIsolates } from './isolate.ts';
import { startWatch } from './watch.ts';

const DEFAULTS = {
  /** The next isolate is created with the memory limit of the previous run. */
  memoryMb: 128,
};

const makeIsolate = loadIsolates(process.argv[2]!);
const pipe = openPipe();
let spare = ready(DEFAULTS.memoryMb);
// Started after the snapshot is made: a thread that starts during it could deadlock with it.
const watch = startWatch();

watch.wait();
pipe.send({ type: 'ready' });
setImmediate(serve);

/** Serves one run, then yields to the event loop so that the isolate's memory can be freed. */
function serve(): void {
  const packet = pipe.receive();
  const { type } = packet.head as HostMessage;
  if (type === 'start') run(packet);
  // Any other message arrived too late for its run.
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
