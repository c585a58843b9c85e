import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { isJsonObject, type JsonObject } from '../../core/vocabulary/read-wire.ts';
import { oneLine } from '../../core/vocabulary/text.ts';

const DEFAULTS = {
  /** Arguments, variables and headers of one server. */
  inputs: 200,
  /** Characters of one value. */
  value: 4_000,
  /** Servers that an error names. */
  named: 8,
};

/** What a person chose of a server's description. */
export interface ImportChoice {
  /** `npm`, `pypi`, `oci` or `remote`; absent: the first that works. */
  readonly via?: string;
  /** Values of arguments and variables, by their name. */
  readonly values: Readonly<Record<string, string>>;
}

/** An entry for the configuration, and what a person should know of it. */
export interface ImportedServer {
  readonly name: string;
  readonly entry: Readonly<Record<string, unknown>>;
  readonly notes: readonly string[];
}

/**
 * How packages are started. The description names a program of its own, but only those of its kind are used, and only a
 * name of the registry: a path or an address could be anything.
 */
const KINDS: Readonly<
  Record<
    string,
    {
      programs: readonly string[];
      name: RegExp;
      homes: readonly string[];
      run: (name: string, version: string) => string[];
    }
  >
> = {
  npm: {
    programs: ['npx', 'bunx'],
    name: /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/i,
    homes: ['https://registry.npmjs.org'],
    run: (name, version) => [version === '' ? name : `${name}@${version}`],
  },
  pypi: {
    programs: ['uvx'],
    name: /^[a-z0-9][a-z0-9._-]*$/i,
    homes: ['https://pypi.org', 'https://files.pythonhosted.org'],
    run: (name, version) => [version === '' ? name : `${name}@${version}`],
  },
  oci: {
    programs: ['docker', 'podman'],
    name: /^[a-z0-9][a-z0-9._:/@-]*$/i,
    homes: ['https://docker.io', 'https://ghcr.io'],
    run: (name, version) => {
      const isTagged = name.includes('@') || name.split('/').at(-1)!.includes(':');
      return [version === '' || isTagged ? name : `${name}:${version}`];
    },
  },
};

/** The description of a server in a registry's answer, a list of descriptions, or a file of its own. */
export function findServer(content: unknown, wanted: string | null): JsonObject {
  const listed = isJsonObject(content) && Array.isArray(content.servers) ? content.servers : content;
  const all = (Array.isArray(listed) ? listed : [listed]).flatMap((one) => {
    const server = isJsonObject(one) && isJsonObject(one.server) ? one.server : one;
    if (!isJsonObject(server) || typeof server.name !== 'string') return [];
    // A registry answers with its own remarks beside the description, or, earlier, within.
    const remarks = Object(Object(Object(one)._meta)['io.modelcontextprotocol.registry/official']);
    return [{ server, name: server.name, isLatest: remarks.isLatest === true }];
  });
  const short = (name: string) => name.split('/').at(-1) ?? name;
  const exact = all.filter(({ name }) => wanted === null || name === wanted);
  const found = exact.length > 0 ? exact : all.filter(({ name }) => short(name) === wanted);
  const names = [...new Set(found.map(({ name }) => name))];
  if (names.length !== 1) {
    const known = (names.length > 1 ? names : [...new Set(all.map(({ name }) => name))]).sort();
    const more = known.length > DEFAULTS.named ? ', …' : '';
    const what = wanted === null ? 'The file describes' : `"${oneLine(wanted, 100)}" means`;
    throw new PmlError(
      'not_found',
      `${what} ${names.length === 0 ? 'no server' : `${names.length} servers`}`,
      {
        hint: `There are: ${
          known
            .slice(0, DEFAULTS.named)
            .map((name) => oneLine(name, 100))
            .join(', ') || 'none'
        }${more}.`,
      },
    );
  }
  const newest = found.sort((one, other) => compareVersions(one.server.version, other.server.version));
  return (newest.find(({ isLatest }) => isLatest) ?? newest.at(-1)!).server;
}

/** By number, part by part; a version with a suffix precedes the one without. */
function compareVersions(one: unknown, other: unknown): number {
  const parts = (version: unknown) => String(version).slice(0, 100).split(/[.+-]/);
  const [a, b] = [parts(one), parts(other)];
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const [x, y] = [Number(a[at] ?? 0), Number(b[at] ?? 0)];
    if (x !== y) return (Number.isNaN(x) ? -1 : x) - (Number.isNaN(y) ? -1 : y);
  }
  return 0;
}

/** The entry that a registry's `server.json` means. Everything in it is text from outside. */
export function entryOfServer(server: JsonObject, choice: ImportChoice): ImportedServer {
  const name = String(server.name);
  const { via } = choice;
  const packages = objects(server.packages).filter(
    ({ registryType, transport }) =>
      Object.hasOwn(KINDS, String(registryType)) && (Object(transport).type ?? 'stdio') === 'stdio',
  );
  const remotes = objects(server.remotes).filter(({ type }) => type === 'streamable-http' || type === 'sse');
  const chosen = packages.find(({ registryType }) => via === undefined || registryType === via);
  const remote = via === undefined || via === 'remote' ? remotes[0] : undefined;
  const ways = [
    ...packages.map(({ registryType }) => String(registryType)),
    ...(remotes.length > 0 ? ['remote'] : []),
  ];
  if (!chosen && !remote) {
    throw new PmlError('invalid_argument', `${oneLine(name, 200)} has nothing that PML can start or reach`, {
      hint:
        ways.length === 0
          ? 'PML takes npm, PyPI and OCI packages, and remotes over HTTP.'
          : `It has: ${ways.join(', ')}.`,
    });
  }
  const inputs = new Inputs(choice.values);
  const made = chosen ? packageEntry(chosen, inputs) : { entry: remoteEntry(remote!, inputs), notes: [] };
  inputs.throwIfMissing(name);
  const others = ways.filter((way) => way !== (chosen ? chosen.registryType : 'remote'));
  return {
    name:
      (name.split('/').at(-1) ?? '').replace(/[^A-Za-z0-9_.-]/g, '-').replace(/^[^A-Za-z0-9]+/, '') ||
      'server',
    entry: made.entry,
    notes: [
      ...made.notes,
      ...inputs.notes,
      ...(others.length > 0
        ? [`It is also available with --via ${[...new Set(others)].join(' or --via ')}.`]
        : []),
    ],
  };
}

function packageEntry(pack: JsonObject, inputs: Inputs): { entry: JsonObject; notes: string[] } {
  const kind = KINDS[String(pack.registryType)]!;
  const { identifier, runtimeHint, registryBaseUrl } = pack;
  const version = pack.version === undefined || pack.version === 'latest' ? '' : String(pack.version);
  const home = typeof registryBaseUrl === 'string' ? registryBaseUrl.replace(/\/$/, '') : kind.homes[0]!;
  if (typeof identifier !== 'string' || identifier.length > 300 || !kind.name.test(identifier))
    throw unfit('package', identifier);
  if (!/^(?:\d[\w.+-]{0,99})?$/.test(version)) throw unfit('version', version);
  if (!kind.homes.includes(home)) throw unfit('registry', home);
  const command = kind.programs.find((program) => program === runtimeHint) ?? kind.programs[0]!;
  const env = inputs.variables(pack.environmentVariables);
  const runtime = inputs.arguments(pack.runtimeArguments);
  const own = inputs.arguments(pack.packageArguments);
  const isContainer = pack.registryType === 'oci';
  const begin = isContainer
    ? ['run', '-i', '--rm', ...Object.keys(env).flatMap((variable) => ['-e', variable])]
    : command === 'npx' && !runtime.includes('-y')
      ? ['-y']
      : [];
  const args = [...begin, ...runtime, ...kind.run(identifier, version), ...own];
  return {
    entry: { command, args, ...(Object.keys(env).length > 0 && { env }) },
    notes:
      version === '' && !/@sha256:/.test(identifier)
        ? ['Its version is not fixed: each start may run a different one.']
        : [],
  };
}

function remoteEntry(remote: JsonObject, inputs: Inputs): JsonObject {
  const url = inputs.filled(remote.url, remote.variables);
  // With any text in place of its variables.
  const [first = '', ...rest] = url.split('${');
  const example = URL.parse([first, ...rest.map((part) => part.slice(part.indexOf('}') + 1))].join('x'));
  const isLocal = example?.hostname === 'localhost' || example?.hostname === '127.0.0.1';
  if (example?.protocol !== 'https:' && !(isLocal && example?.protocol === 'http:'))
    throw unfit('address', remote.url);
  const headers = inputs.variables(remote.headers);
  return {
    url,
    ...(remote.type === 'sse' && { type: 'sse' }),
    ...(Object.keys(headers).length > 0 && { headers }),
  };
}

/** Values that the description asks for: from the person, from itself, or from a variable when PML starts. */
class Inputs {
  readonly notes: string[] = [];
  readonly #values: Readonly<Record<string, string>>;
  readonly #missing: string[] = [];

  constructor(values: Readonly<Record<string, string>>) {
    this.#values = values;
  }

  throwIfMissing(server: string): void {
    if (this.#missing.length === 0) return;
    throw new PmlError('invalid_argument', `${oneLine(server, 200)} needs ${this.#missing.join(', ')}`, {
      hint: `Add ${this.#missing.map((name) => `--set ${name}=…`).join(' ')}`,
    });
  }

  /** Environment variables or headers, by name. */
  variables(listed: unknown): Record<string, string> {
    const found: Record<string, string> = {};
    for (const input of objects(listed)) {
      const name = String(input.name);
      if (!/^[A-Za-z_][\w-]{0,199}$/.test(name)) continue;
      const given = this.#given(name);
      const said = input.value === undefined ? undefined : this.filled(input.value, input.variables);
      const variable = name.replaceAll('-', '_').toUpperCase();
      const fallback = input.default === undefined || input.isSecret === true ? '' : String(input.default);
      const isPlain = !/[{}$]/.test(fallback);
      if (given !== undefined) found[name] = given;
      else if (said !== undefined) found[name] = said;
      else if (fallback !== '') found[name] = isPlain ? `\${${variable}:-${fallback}}` : literal(fallback);
      else if (input.isRequired === true) found[name] = this.#variable(variable);
      else this.notes.push(`${name} is optional: ${aboutOf(input)}; set it with --set ${name}=…`);
    }
    return found;
  }

  arguments(listed: unknown): string[] {
    return objects(listed).flatMap((input) => {
      const flag = input.type === 'named' && typeof input.name === 'string' ? input.name : null;
      const name = (flag ?? String(input.valueHint ?? input.name ?? 'argument')).replace(/^-+/, '');
      const given = this.#given(name);
      const said = input.value ?? input.default;
      const value = given ?? (said === undefined ? undefined : this.filled(said, input.variables));
      if (value === undefined) {
        if (input.isRequired === true) this.#missing.push(oneLine(name, 100));
        else
          this.notes.push(
            `${oneLine(name, 100)} is optional: ${aboutOf(input)}; set it with --set ${oneLine(name, 100)}=…`,
          );
        return [];
      }
      if (flag === null) return [value];
      const isSwitch = input.format === 'boolean';
      if (isSwitch) return value === 'true' ? [literal(flag)] : [];
      return [literal(flag), value];
    });
  }

  /** A text with `{name}` in it, where `variables` describes the names. */
  filled(text: unknown, variables: unknown): string {
    const known = isJsonObject(variables) ? variables : {};
    let done = '';
    // Text from outside is collected, because two pieces together may name a variable that neither names alone.
    let outside = '';
    for (const part of String(text)
      .slice(0, DEFAULTS.value)
      .split(/(\{[^{}]{1,100}\})/)) {
      const name = part.slice(1, -1);
      const isNamed = part.startsWith('{') && part.endsWith('}') && Object.hasOwn(known, name);
      const input = Object(isNamed ? known[name] : undefined);
      const given = isNamed ? this.#given(name) : undefined;
      const said = isNamed ? (input.value ?? input.default) : part;
      if (given === undefined && said !== undefined) {
        outside += String(said);
        continue;
      }
      done += `${literal(outside)}${given ?? this.#variable(name.replace(/\W/g, '_').toUpperCase())}`;
      outside = '';
    }
    return done + literal(outside);
  }

  #variable(name: string): string {
    this.notes.push(`It gets the value of your variable ${name}; use --set to give it a different one.`);
    return `\${${name}}`;
  }

  #given(name: string): string | undefined {
    return Object.hasOwn(this.#values, name) ? this.#values[name] : undefined;
  }
}

/** A text from outside names no variable of ours: `${HOME}` in it stays as it is written. */
function literal(text: string): string {
  return text.slice(0, DEFAULTS.value).replaceAll('${', () => '$${');
}

function aboutOf({ description }: JsonObject): string {
  return oneLine(description, 120) || 'not described';
}

function objects(value: unknown): JsonObject[] {
  return (Array.isArray(value) ? value : []).slice(0, DEFAULTS.inputs).filter(isJsonObject);
}

function unfit(what: string, value: unknown): PmlError {
  return new PmlError('invalid_argument', `The ${what} ${oneLine(String(value), 200)} cannot be imported`, {
    hint: 'Read the description, and add the server by hand with "pml servers add".',
  });
}
