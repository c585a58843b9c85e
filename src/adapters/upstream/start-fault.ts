import type { ServerSettings, UpstreamFailure } from '../../engine/ports.ts';
import { NEXT_CALL_TRIES, reasonOf, UpstreamFault, unavailable } from './failure.ts';

const DEFAULTS = {
  /** Lines of what the server wrote that a message quotes. */
  lines: 5,
  /** Variables that a hint names. */
  variables: 3,
  /** Characters of a line that are looked at. */
  chars: 1_000,
};

/** A frame of a stack, the line of Node's version, a brace alone, or one field of a printed error. */
const NOISE =
  /^(?:at (?:async |new )?\S|Node\.js v\d|[\][{}()^ ]*$|(?:errno|code|syscall|hostname|requireStack): )/;
const ERROR = /error\]?:|\bfatal\b|\bpanic\b/i;
const COMPLAINT =
  /\b(?:required|requires|missing|must|cannot|please|invalid|failed|denied|refused|not (?:set|provided|found|defined))\b/i;
/** Said of a variable that the server lacks, not of one that it mentions. */
const LACK =
  /\b(?:required|requires|missing|must|please|provide|provided|set|pass|unset|undefined|expected|need|needs|no)\b/i;
const VARIABLE = /\b[A-Z][A-Z0-9]{1,40}(?:_[A-Z0-9]{1,40}){1,8}\b/g;
const SECRET = /(?:^|_)(?:API|KEY|TOKEN|SECRET|PASSWORD|PAT|CREDENTIALS|DSN|URL|URI|ID|HOST)(?:_|$)/;
const INCOMPLETE = /\b(?:Cannot find (?:module|package)|ERR_MODULE_NOT_FOUND|ModuleNotFoundError)\b/;

/** Why a start failed: how the process ended, what it wrote of the reason, and what to do about it. */
export function startFault(
  settings: ServerSettings,
  error: unknown,
  exit: string | null,
  written: readonly string[],
): UpstreamFault {
  const telling = tellingLines(written);
  const lastWords = telling.length === 0 ? '' : `; it last wrote:\n${telling.join('\n')}`;
  if (error instanceof UpstreamFault) {
    const { failure } = error;
    return new UpstreamFault({ ...failure, message: `${failure.message}${lastWords}` }, error);
  }
  const { name } = settings;
  if ((error as NodeJS.ErrnoException).code === 'ENOENT' && settings.transport === 'stdio') {
    const hint = 'Check "command" and "cwd" of the server in the configuration.';
    return new UpstreamFault(unavailable(name, `"${settings.command}" cannot be started`, hint), error);
  }
  const reason = `${exit === null ? reasonOf(error) : `${exit} during startup`}${lastWords}`;
  return new UpstreamFault(toldFailure(name, reason, written), error);
}

function toldFailure(server: string, reason: string, written: readonly string[]): UpstreamFailure {
  const failure = unavailable(server, reason);
  const variables = lackingVariables(written);
  if (variables.length > 0) {
    const env = Object.fromEntries(variables.map((variable) => [variable, `\${${variable}}`]));
    return {
      ...failure,
      errorType: 'PERMISSION',
      message: `Server "${server}" lacks a key or a setting: ${reason}`,
      hint: `Set what it names, such as "env": ${JSON.stringify(env)} in its configuration${NEXT_CALL_TRIES}`,
    };
  }
  if (!INCOMPLETE.test(reason)) return failure;
  const hint = `Its program is incomplete: install it again. \`pml servers logs ${server}\` shows all it wrote.`;
  return { ...failure, errorType: 'UNKNOWN', hint };
}

/**
 * The lines of most use to a person: errors, each with the line after it, which often says what to do; otherwise
 * complaints; otherwise the last ones. Frames of stacks and usage texts come last in what servers write.
 */
function tellingLines(written: readonly string[]): readonly string[] {
  const lines = written.map(plain).filter((line) => !NOISE.test(line.trim()));
  const errors = lines.filter((line, at) => ERROR.test(line) || ERROR.test(lines[at - 1] ?? ''));
  const complaints = lines.filter((line) => COMPLAINT.test(line));
  const chosen = [errors, complaints, lines].find((some) => some.length > 0) ?? [];
  return [...new Set(chosen)].slice(-DEFAULTS.lines);
}

/** Environment variables that the server says it needs. */
function lackingVariables(written: readonly string[]): readonly string[] {
  const named = tellingLines(written)
    .filter((line) => LACK.test(line))
    .flatMap((line) => line.match(VARIABLE) ?? []);
  return [...new Set(named)].filter((name) => SECRET.test(name)).slice(0, DEFAULTS.variables);
}

/** Without colours, and bounded. */
function plain(line: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminals' colours begin with one
  return line.slice(0, DEFAULTS.chars).replace(/\u001b\[[0-9;]{0,20}m/g, '');
}
