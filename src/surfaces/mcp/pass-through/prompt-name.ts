import { createHash } from 'node:crypto';

const DEFAULTS = {
  /** What clients take as a name. */
  chars: 64,
  hashChars: 8,
};

/** `server:prompt`, shortened with a hash of the whole where clients would refuse its length. */
export function gatewayPromptName(server: string, prompt: string): string {
  const whole = `${server}:${prompt}`;
  const { chars, hashChars } = DEFAULTS;
  if (whole.length <= chars) return whole;
  const hash = createHash('sha256').update(whole).digest('hex').slice(0, hashChars);
  return `${whole.slice(0, chars - hashChars - 1)}~${hash}`;
}

/** The server and its own name for the prompt, unless the name was shortened. */
export function splitPromptName(
  name: string,
  servers: readonly string[],
): { server: string; prompt: string } | null {
  if (name.length === DEFAULTS.chars && name.at(-DEFAULTS.hashChars - 1) === '~') return null;
  const server = servers.find((candidate) => name.startsWith(`${candidate}:`));
  return server === undefined ? null : { server, prompt: name.slice(server.length + 1) };
}
