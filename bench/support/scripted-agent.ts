import type { Client } from '@modelcontextprotocol/client';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';

export interface JobCall {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** The same work three times over: as calls one by one, and as a program. */
export interface Job {
  readonly intent: string;
  readonly calls: readonly JobCall[];
  readonly code: string;
}

/** What one job costs: every request to a model carries all that was read and written before. */
export interface Bill {
  readonly requests: number;
  readonly calls: number;
  /** Tokens of all requests, as they are billed without a cache. */
  readonly tokensIn: number;
  readonly tokensOut: number;
  /** Of the answers, on the wire. */
  readonly bytes: number;
}

interface Answer {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly isError?: boolean;
}

/**
 * An agent that always takes the right step: what is measured is what the steps cost, not whether a model finds them.
 * It begins with the tools, the instructions and the user's wish in its context.
 */
export class ScriptedAgent {
  #context: number;
  #requests = 0;
  #calls = 0;
  #tokensIn = 0;
  #tokensOut = 0;
  #bytes = 0;

  constructor(prompt: string, wish: string) {
    this.#context = countTokens(prompt) + countTokens(wish);
  }

  /** Decides on a call, makes it, and reads the answer. */
  async call(client: Client, name: string, args: Readonly<Record<string, unknown>>): Promise<string> {
    this.#request(countTokens(JSON.stringify({ name, arguments: args })));
    const answer = (await client.callTool({ name, arguments: args })) as Answer;
    const text = answer.content.map((block) => block.text ?? '').join('\n');
    if (answer.isError)
      throw new Error(`${name} ${JSON.stringify(args).slice(0, 300)}: ${text.slice(0, 500)}`);
    this.#calls++;
    this.#context += countTokens(text);
    this.#bytes += Buffer.byteLength(JSON.stringify(answer));
    return text;
  }

  /** The last request, in which the agent answers its user; the words of that answer are the same in every way. */
  bill(): Bill {
    this.#request(0);
    return {
      requests: this.#requests,
      calls: this.#calls,
      tokensIn: this.#tokensIn,
      tokensOut: this.#tokensOut,
      bytes: this.#bytes,
    };
  }

  #request(written: number): void {
    this.#requests++;
    this.#tokensIn += this.#context;
    this.#tokensOut += written;
    this.#context += written;
  }
}

/** What a model reads of a client's server before it begins. */
export async function promptOf(client: Client): Promise<string> {
  const { tools } = await client.listTools();
  const read = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  return [client.getInstructions() ?? '', ...read.map((tool) => JSON.stringify(tool))].join('\n');
}

/** Searches as an agent does: by the wish, then by what is still missing; tools it has seen it does not look for again. */
export async function findTools(agent: ScriptedAgent, pml: Client, { intent, calls }: Job): Promise<void> {
  let seen = '';
  const search = async (query: string) => {
    seen += `\n${await agent.call(pml, 'pml_search_tools', { query })}`;
  };
  await search(intent);
  for (const tool of new Set(calls.map((call) => call.tool))) {
    if (!seen.includes(`\n${tool} `)) await search(tool.split(':')[1]!.replace(/[_-]/g, ' '));
    if (!seen.includes(`\n${tool} `)) await search(tool);
    if (!seen.includes(`\n${tool} `)) throw new Error(`${tool} is not found by its own name`);
  }
}
