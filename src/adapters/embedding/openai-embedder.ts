import { setTimeout as sleep } from 'node:timers/promises';
import { normalise } from '../../core/numeric/matrices.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { withoutEnding } from '../../core/vocabulary/text.ts';
import type { Embedder, EmbeddingSettings } from '../../engine/ports.ts';

type OpenAiSettings = Extract<EmbeddingSettings, { kind: 'openai' }>;

const DEFAULTS = {
  /** Texts per request; endpoints allow 100 to 2,048. */
  batch: 64,
  /** Characters per text, well below the limit of 8,191 tokens of OpenAI's models. */
  characters: 16_384,
  timeoutMs: 30_000,
  /** Retries after 429, 5xx or a broken connection. */
  retries: 2,
  retryDelayMs: 500,
  /** Characters of an error response that are shown. */
  reasonCharacters: 200,
};

export interface OpenAiOptions {
  readonly timeoutMs?: number;
  readonly retryDelayMs?: number;
}

interface EmbeddingsAnswer {
  readonly data: readonly { readonly index: number; readonly embedding: readonly number[] }[];
}

/** Any endpoint with OpenAI's `POST {url}/embeddings`. */
export class OpenAiEmbedder implements Embedder {
  readonly model: string;
  readonly dimension: number;
  readonly #settings: OpenAiSettings;
  readonly #endpoint: string;
  readonly #timeoutMs: number;
  readonly #retryDelayMs: number;
  readonly #closing = new AbortController();

  constructor(settings: OpenAiSettings, options: OpenAiOptions = {}) {
    if (!URL.canParse(settings.url)) {
      throw new PmlError(
        'config_invalid',
        `"${settings.url}" is not a valid address of an embedding endpoint`,
        {
          hint: 'Set pml.embedding.url to an address like https://api.openai.com/v1.',
        },
      );
    }
    this.model = `openai/${settings.model}`;
    this.dimension = settings.dimension;
    this.#settings = settings;
    this.#endpoint = `${withoutEnding(settings.url, '/')}/embeddings`;
    this.#timeoutMs = options.timeoutMs ?? DEFAULTS.timeoutMs;
    this.#retryDelayMs = options.retryDelayMs ?? DEFAULTS.retryDelayMs;
  }

  async embed(texts: readonly string[]): Promise<Float32Array[]> {
    const vectors: Float32Array[] = [];
    for (let first = 0; first < texts.length; first += DEFAULTS.batch) {
      const batch = texts.slice(first, first + DEFAULTS.batch);
      vectors.push(...this.#read(await this.#request(batch), batch.length));
    }
    return vectors;
  }

  async close(): Promise<void> {
    this.#closing.abort();
  }

  async #request(texts: readonly string[]): Promise<unknown> {
    for (let attempt = 0; ; attempt++) {
      const outcome = await this.#post(texts);
      if (outcome.ok) return outcome.body;
      if (!outcome.mayPass || attempt === DEFAULTS.retries || this.#closing.signal.aborted)
        throw outcome.error;
      await sleep(this.#retryDelayMs * 2 ** attempt);
    }
  }

  async #post(texts: readonly string[]): Promise<Outcome> {
    const { model, apiKey } = this.#settings;
    // Endpoints reject an empty text.
    const input = texts.map((text) => text.slice(0, DEFAULTS.characters) || ' ');
    try {
      const response = await fetch(this.#endpoint, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }),
        },
        body: JSON.stringify({ model, input, encoding_format: 'float' }),
        signal: AbortSignal.any([AbortSignal.timeout(this.#timeoutMs), this.#closing.signal]),
      });
      if (response.ok) return { ok: true, body: await response.json() };
      const mayPass = response.status === 429 || response.status >= 500;
      return { ok: false, mayPass, error: this.#refusal(response.status, await response.text()) };
    } catch (cause) {
      return { ok: false, mayPass: !isTimeout(cause), error: this.#unreachable(cause) };
    }
  }

  /** Returns the vectors in the order of the request, whatever the order of the response. */
  #read(body: unknown, count: number): Float32Array[] {
    const vectors = new Array<Float32Array | undefined>(count).fill(undefined);
    const { data } = (body ?? {}) as Partial<EmbeddingsAnswer>;
    for (const item of Array.isArray(data) ? (data as EmbeddingsAnswer['data']) : []) {
      if (Array.isArray(item.embedding)) vectors[item.index] = Float32Array.from(item.embedding);
    }
    return vectors.map((vector) => {
      if (vector?.length === this.dimension && vector.every(Number.isFinite)) return normalise(vector);
      const what = vector === undefined ? 'no vector for a text' : `a vector of ${vector.length} numbers`;
      throw new PmlError(
        'embedding_unavailable',
        `${this.#where()} returned ${what}, expected one of ${this.dimension} numbers for each text`,
        { hint: `Set pml.embedding.dimension to the dimension of model "${this.#settings.model}".` },
      );
    });
  }

  #refusal(status: number, text: string): PmlError {
    const { apiKey } = this.#settings;
    const reason = (apiKey ? text.replaceAll(apiKey, '***') : text).slice(0, DEFAULTS.reasonCharacters);
    return new PmlError('embedding_unavailable', `${this.#where()} answered ${status}: ${reason}`, {
      hint: hintFor(status),
    });
  }

  #unreachable(cause: unknown): PmlError {
    const what = isTimeout(cause) ? `did not respond within ${this.#timeoutMs} ms` : 'cannot be reached';
    return new PmlError('embedding_unavailable', `${this.#where()} ${what}`, {
      hint: 'Check pml.embedding.url and that the endpoint is running.',
      cause,
    });
  }

  /** The endpoint's address without parts that may be secret. */
  #where(): string {
    const { origin, pathname } = new URL(this.#endpoint);
    return `The embedding endpoint ${origin}${pathname}`;
  }
}

type Outcome =
  | { readonly ok: true; readonly body: unknown }
  /** `mayPass`: a retry may succeed. */
  | { readonly ok: false; readonly mayPass: boolean; readonly error: PmlError };

function isTimeout(cause: unknown): boolean {
  return cause instanceof Error && cause.name === 'TimeoutError';
}

function hintFor(status: number): string {
  if (status === 401 || status === 403) return 'Check pml.embedding.api_key.';
  if (status === 404) return 'Check pml.embedding.url (without /embeddings) and pml.embedding.model.';
  if (status === 429) return 'The endpoint limits the request rate: try again later.';
  return 'Check pml.embedding and the logs of the endpoint.';
}
