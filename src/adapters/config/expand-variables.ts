/** An environment variable that was substituted into a value. */
export interface UsedVariable {
  readonly name: string;
  readonly value: string;
}

export interface VariableSource {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Variables that clients define themselves, such as `workspaceFolder`. */
  readonly predefined: Readonly<Record<string, string>>;
}

interface Expansion {
  readonly text: string;
  readonly used: readonly UsedVariable[];
  /** `written` is the placeholder as written in the text. */
  readonly problems: readonly {
    readonly written: string;
    readonly message: string;
    /** Whether the variable is just not set, or the placeholder itself is invalid. */
    readonly isUnset: boolean;
  }[];
}

/** `$${…}` is a literal `${…}`. An unclosed one extends to the end, so that the search stays linear. */
const PLACEHOLDER = /\$(\$\{[^}]*(?:\}|$))|\$\{([^}]*)(?:\}|$)/g;

const NAMED = /^(?:env:(?<any>[^:}]+)|(?<plain>[A-Za-z_]\w*))(?::-(?<fallback>[\s\S]*))?$/;

/** Substitutes variables in a text; a placeholder without a value stays and is reported. */
export function expandVariables(text: string, { env, predefined }: VariableSource): Expansion {
  const used: UsedVariable[] = [];
  const problems: { written: string; message: string; isUnset: boolean }[] = [];
  const expanded = text.replace(PLACEHOLDER, (written: string, literal?: string, inner = '') => {
    if (!written.endsWith('}')) return written;
    if (literal !== undefined) return literal;
    if (Object.hasOwn(predefined, inner)) return predefined[inner]!;
    const { any, plain, fallback } = NAMED.exec(inner)?.groups ?? {};
    const name = any ?? plain;
    if (name === undefined) {
      problems.push({ written, message: unreadable(inner), isUnset: false });
      return written;
    }
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    // As in a shell, `:-` also replaces an empty value.
    if (value === undefined || (value === '' && fallback !== undefined)) {
      if (fallback !== undefined) return fallback;
      problems.push({
        written,
        message: `uses the variable ${name}, which is not set; set it before PML starts, or write \${${name}:-default}`,
        isUnset: true,
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
