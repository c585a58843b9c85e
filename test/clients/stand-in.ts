/**
 * A stand-in for the API of a model: an agent asks it what to do next, and it answers with the tool call that the caller
 * of `call` has asked for. What the agent then sends back is what a model would have read.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

// biome-ignore lint/suspicious/noExplicitAny: three APIs' bodies, of which each function reads a few fields
type Json = Record<string, any>;

/** A tool call to play, or the text that ends the agent's turn. */
type Play = { readonly id: string; readonly name: string; readonly args: Json } | { readonly text: string };

/** One way in which models are reached. */
interface Api {
  matches(path: string): boolean;
  /** The names of the tools that the model may call; a tool in a namespace has both, joined. */
  tools(body: Json): string[];
  /** Everything that came back for a call; undefined while it is not there. */
  result(body: Json, id: string): unknown;
  answer(response: ServerResponse, play: Play, body: Json, path: string): void;
}

const MODEL = 'stand-in';
const USAGE = { input_tokens: 1, output_tokens: 1 };

const anthropic: Api = {
  matches: (path) => path.startsWith('/v1/messages'),
  tools: (body) => (body.tools ?? []).map((tool: Json) => tool.name),
  result: (body, id) =>
    body.messages
      .flatMap(({ content }: Json) => (Array.isArray(content) ? content : []))
      .find((block: Json) => block.type === 'tool_result' && block.tool_use_id === id),
  answer(response, play, body, path) {
    if (path.includes('count_tokens')) return sendJson(response, { input_tokens: 1 });
    const isText = 'text' in play;
    const block = isText
      ? { type: 'text', text: play.text }
      : { type: 'tool_use', id: play.id, name: play.name, input: play.args };
    const stop_reason = isText ? 'end_turn' : 'tool_use';
    const message = { id: 'msg', type: 'message', role: 'assistant', model: MODEL, stop_sequence: null };
    if (!body.stream) return sendJson(response, { ...message, content: [block], stop_reason, usage: USAGE });
    const start = isText ? { ...block, text: '' } : { ...block, input: {} };
    const delta = isText
      ? { type: 'text_delta', text: play.text }
      : { type: 'input_json_delta', partial_json: JSON.stringify(play.args) };
    sendEvents(response, [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage: USAGE } },
      { type: 'content_block_start', index: 0, content_block: start },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: USAGE },
      { type: 'message_stop' },
    ]);
  },
};

const NAMESPACE = '/';

const openai: Api = {
  matches: (path) => path.endsWith('/responses'),
  tools: (body) =>
    (body.tools ?? []).flatMap((tool: Json) =>
      tool.type === 'namespace'
        ? tool.tools.map((inner: Json) => `${tool.name}${NAMESPACE}${inner.name}`)
        : [tool.name ?? tool.type],
    ),
  result: (body, id) =>
    body.input.find((item: Json) => /_call_output$/.test(item.type) && item.call_id === id),
  answer(response, play, body) {
    const call = ({ id, name, args }: Exclude<Play, { text: string }>) => {
      const [namespace, inner] = name.split(NAMESPACE);
      const named = inner === undefined ? { name } : { namespace, name: inner };
      return {
        type: 'function_call',
        id: `fc_${id}`,
        call_id: id,
        ...named,
        arguments: JSON.stringify(args),
      };
    };
    const item =
      'text' in play
        ? {
            type: 'message',
            id: 'msg',
            role: 'assistant',
            content: [{ type: 'output_text', text: play.text }],
          }
        : call(play);
    const whole = { id: 'resp', object: 'response', model: MODEL };
    const usage = { ...USAGE, total_tokens: 2 };
    const completed = { ...whole, status: 'completed', output: [item], usage };
    if (!body.stream) return sendJson(response, completed);
    sendEvents(response, [
      { type: 'response.created', response: { ...whole, status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: completed },
    ]);
  },
};

const gemini: Api = {
  matches: (path) => /:(?:stream)?[gG]enerateContent/.test(path) || path.includes(':countTokens'),
  tools: (body) =>
    (body.tools ?? []).flatMap((tool: Json) =>
      (tool.functionDeclarations ?? []).map((declared: Json) => declared.name),
    ),
  // An image comes in a part beside the answer of the function, so all parts of that turn belong to the result.
  result: (body, id) =>
    body.contents.find(({ parts }: Json) => parts?.some((part: Json) => part.functionResponse?.id === id))
      ?.parts,
  answer(response, play, _body, path) {
    if (path.includes(':countTokens')) return sendJson(response, { totalTokens: 1 });
    const part =
      'text' in play
        ? { text: play.text }
        : { functionCall: { id: play.id, name: play.name, args: play.args } };
    const answer = {
      candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      modelVersion: MODEL,
    };
    if (path.includes('stream')) sendEvents(response, [answer]);
    else sendJson(response, answer);
  },
};

const APIS = [anthropic, openai, gemini];

export interface StandIn {
  readonly url: string;
  /** The names of the tools in the agent's latest question that `isWanted` finds; waits until there are any. */
  offered(isWanted: (name: string) => boolean): Promise<readonly string[]>;
  /** Has the agent call a tool, by the end of its name, and returns what it then sends to the model. */
  call(name: string, args: Json): Promise<unknown>;
  /** Ends the agent's turn. */
  finish(): void;
  close(): void;
}

/** Starts on a free port. Questions that offer no tools (titles, checks of the next speaker) are answered at once. */
export async function startStandIn(): Promise<StandIn> {
  let question: { readonly body: Json; readonly api: Api; answer(play: Play): void } | undefined;
  let isFinished = false;
  let calls = 0;
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const one of [...waiting]) one();
  };
  const until = async <T>(look: () => T | undefined): Promise<T> => {
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        const once = () => {
          waiting.delete(once);
          resolve();
        };
        waiting.add(once);
      });
    }
  };

  const server = createServer(async (request, response) => {
    const path = request.url ?? '';
    const api = APIS.find((one) => one.matches(path));
    if (!api || request.method !== 'POST') {
      sendJson(response, request.method === 'GET' ? { data: [], models: [] } : {});
      return;
    }
    const body = await readJson(request);
    const answer = (play: Play) => api.answer(response, play, body, path);
    if (api.tools(body).length === 0 || isFinished || path.includes('ount')) {
      answer({ text: '{"title":"x","reasoning":"","next_speaker":"user"}' });
      return;
    }
    question = { body, api, answer };
    response.on('close', () => {
      if (question?.body === body) question = undefined;
    });
    wake();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    offered: (isWanted) =>
      until(() => {
        const found = question?.api.tools(question.body).filter(isWanted) ?? [];
        return found.length > 0 ? found : undefined;
      }),
    async call(name, args) {
      const asked = await until(() => question);
      const full = asked.api.tools(asked.body).find((one) => one.endsWith(name));
      if (full === undefined) throw new Error(`the agent does not offer ${name} to its model`);
      calls += 1;
      const id = `call_${calls}`;
      question = undefined;
      asked.answer({ id, name: full, args });
      return await until(() => question?.api.result(question.body, id));
    },
    finish() {
      isFinished = true;
      question?.answer({ text: 'Done.' });
      question = undefined;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function readJson(request: IncomingMessage): Promise<Json> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}');
}

function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function sendEvents(response: ServerResponse, events: readonly Json[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events)
    response.write(`${event.type ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`);
  response.end();
}
