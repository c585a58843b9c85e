/** A variable of the environment that was put into a value. */
export interface UsedVariable {
  readonly name: string;
  readonly value: string;
}

export interface VariableSource {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Names that clients define themselves, such as `workspaceFolder`. */
  readonly predefined: Readonly<Record<string, string>>;
}

interface Expansion {
  readonly text: string;
  readonly used: readonly UsedVariable[];
  /** `written` is the placeholder as it stands in the text. */
  readonly problems: readonly { readonly written: string; readonly message: string }[];
}

/** `$${…}` is a literal `${…}`. One that is not closed goes to the end, so that its end is looked for once. */
const PLACEHOLDER = /\$(\$\{[^}]*(?:\}|$))|\$\{([^}]*)(?:\}|$)/g;
const NAMED = /^(?:env:(?<any>[^:}]+)|(?<plain>[A-Za-z_]\w*))(?::-(?<fallback>[\s\S]*))?$/;

/** Puts variables into a text; a placeholder that cannot be filled stays and is told. */
export function expandVariables(text: string, { env, predefined }: VariableSource): Expansion {
  const used: UsedVariable[] = [];
  const problems: { written: string; message: string }[] = [];
  const expanded = text.replace(PLACEHOLDER, (written: string, literal?: string, inner = '') => {
    if (!written.endsWith('}')) return written;
    if (literal !== undefined) return literal;
    if (Object.hasOwn(predefined, inner)) return predefined[inner]!;
    const { any, plain, fallback } = NAMED.exec(inner)?.groups ?? {};
    const name = any ?? plain;
    if (name === undefined) {
      problems.push({ written, message: unreadable(inner) });
      return written;
    }
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    // As in a shell, `:-` also stands in for an empty value.
    if (value === undefined || (value === '' && fallback !== undefined)) {
      if (fallback !== undefined) return fallback;
      problems.push({
        written,
        message: `uses the variable ${name}, which is not set; set it before PML starts, or write \${${name}:-default}`,
      });
      return written;
    }
    used.push({ name, value });
    return value;
  });
  return { text: expanded, used, problems };
}

function unreadable(inner: string): string {
  if (/^(input|command|config):/.test(inner)) {
    return 'asks the editor for a value; use an environment variable instead: ${NAME}';
  }
  return 'has a ${…} that is not a variable; write ${NAME} or ${NAME:-default}, and $${ for a literal ${';
}
