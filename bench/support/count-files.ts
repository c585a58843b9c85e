/**
 * Loaded into a gateway's process: sends its parent the files of which a function ran from a request to the end of its
 * answer, by precise coverage. What runs later, such as learning, belongs to no answer. The messages `begin` and `end`
 * count the same without a request.
 */
import { subscribe } from 'node:diagnostics_channel';
import { ServerResponse } from 'node:http';
import { Session } from 'node:inspector';

const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

/** Files that ran since the last call. */
function take(): string[] {
  const urls: string[] = [];
  // Without a second thread the reply is here before `post` returns.
  session.post('Profiler.takePreciseCoverage', (error, coverage) => {
    if (error) throw error;
    for (const { url, functions } of coverage.result)
      if (functions.some(({ ranges }) => ranges[0]!.count > 0)) urls.push(url);
  });
  return urls;
}

const end = ServerResponse.prototype.end;
ServerResponse.prototype.end = function (this: ServerResponse, ...args: Parameters<typeof end>) {
  const ended = end.apply(this, args);
  process.send!(take());
  return ended;
} as typeof end;

subscribe('http.server.request.start', take);
process.on('message', (message) => {
  const urls = take();
  if (message === 'end') process.send!(urls);
});
// The gateway ends when it is told to, whether or not its parent listens.
process.channel!.unref();
