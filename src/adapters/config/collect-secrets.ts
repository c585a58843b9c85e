import { isCommonWord, MIN_SECRET_LENGTH } from '../../core/tracing/found-secrets.ts';
import { isSecretName } from '../../core/tracing/known-secrets.ts';
import { isSecretFlag } from '../../core/tracing/secret-shapes.ts';
import type { UsedVariable } from './expand-variables.ts';
import type { Config, ServerConfig } from './schema.ts';

/** Names of variables and headers whose values are not credentials. */
const HARMLESS_NAME =
  /(^|[_-])(home|path|dir|directory|folder|root|file|user|username|logname|shell|term|lang|tz|tmp|temp|tmpdir|host|hostname|port|env|environment|mode|level|region|zone|locale|encoding|timeout|version|profile|owner|org|organization|project|repo|repository|database|db|name|model|accept|content-type|user-agent)$/i;
const PATH = /^(?:~?\/|\.{1,2}\/|[A-Za-z]:[\\/])[\w .\-/\\@]*$/;
/** A path segment or parameter that looks random. */
const RANDOM = /^(?=.*\d)(?=.*[A-Za-z])[\w.~-]{20,}$/;

/**
 * Values that must never be shown or stored. When in doubt a value is a secret, except those that would hide
 * half of every trace: common words, paths, plain addresses, values of names like NODE_ENV.
 */
export function collectSecrets(config: Config, variables: readonly UsedVariable[]): string[] {
  const secrets = new Set<string>();
  const add = (name: string, value: string) => {
    for (const part of partsOf(name, value)) secrets.add(part);
  };
  const sure = (value: string | undefined) => {
    if (value !== undefined && isWorthHiding(value)) secrets.add(value.trim());
  };

  for (const { name, value } of variables) add(name, value);
  for (const server of Object.values(config.mcpServers)) {
    for (const [name, value] of Object.entries(server.env)) add(name, value);
    for (const [name, value] of Object.entries(server.headers)) {
      add(name, value);
      // `Bearer abc`: the token also appears without its scheme.
      const credentials = /^(?:bearer|basic|token|apikey)\s+(\S+)$/i.exec(value)?.[1];
      sure(credentials);
    }
    for (const value of argumentSecrets(server.args)) sure(value);
    for (const value of urlSecrets(server.url ?? '')) sure(value);
    for (const value of authSecrets(server)) sure(value);
  }
  const { store, embedding, alerts } = config.pml;
  // A webhook takes messages from everybody who knows its address.
  sure(alerts.webhook);
  for (const value of urlSecrets(store.url ?? '')) sure(value);
  if (embedding.kind === 'openai') sure(embedding.api_key);
  return [...secrets];
}

function isWorthHiding(value: string): boolean {
  const text = value.trim();
  return text.length >= MIN_SECRET_LENGTH && !isCommonWord(text);
}

function partsOf(name: string, value: string): string[] {
  const text = value.trim();
  if (!isWorthHiding(text)) return [];
  if (isSecretName(name)) return [text];
  if (URL.canParse(text) && text.includes('://')) {
    const parts = urlSecrets(text).filter(isWorthHiding);
    return parts.length === 0 ? [] : [text, ...parts];
  }
  const harmless = HARMLESS_NAME.test(name) && !text.includes('@') && !RANDOM.test(text);
  return harmless || PATH.test(text) ? [] : [text];
}

/** Password, telling parameters and random-looking parts of a URL, as written and decoded. */
function urlSecrets(text: string): string[] {
  if (!URL.canParse(text)) return [];
  const url = new URL(text);
  const found = [url.password];
  if (RANDOM.test(url.username)) found.push(url.username);
  for (const [name, value] of url.searchParams) {
    if (isSecretName(name) || RANDOM.test(value)) found.push(value);
  }
  found.push(...url.pathname.split('/').filter((segment) => RANDOM.test(segment)));
  return found.filter((part) => part !== '').flatMap((part) => [part, decoded(part)]);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** `--token abc`, `--api-key=abc`, `postgres://joe:abc@db`. */
function argumentSecrets(args: readonly string[]): string[] {
  return args.flatMap((argument, index) => {
    const [flag = '', ...rest] = argument.split('=');
    const found = urlSecrets(argument);
    if (rest.length > 0 && isSecretName(flag)) found.push(rest.join('='));
    if (index > 0 && isSecretFlag(args[index - 1]!)) found.push(argument);
    return found;
  });
}

function authSecrets({ auth }: ServerConfig): (string | undefined)[] {
  if (auth === undefined) return [];
  if (auth.kind === 'bearer') return [auth.token];
  if (auth.kind === 'workload') return [];
  return [auth.client_secret, ...(auth.kind === 'enterprise' ? [auth.idp.client_secret] : [])];
}
