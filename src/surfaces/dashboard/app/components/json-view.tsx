import { useState } from 'preact/hooks';
import { shownText } from '../format.ts';

const DEFAULTS = {
  /** Characters of a text shown at first, and added by each "Show more". */
  characters: 2_000,
  /** Entries of a list or object, likewise. */
  entries: 100,
  /** Levels that are open at first. */
  open: 2,
};

/** Any JSON as a collapsible tree; texts of any length and any characters are shown as they are. */
export function JsonView({
  value,
  name,
  depth = 0,
  isWhole = false,
}: {
  value: unknown;
  name?: string;
  /** Shows everything at once, for a person who decides by it. */
  isWhole?: boolean;
  /** Nesting depth; a negative one opens more levels. */
  depth?: number;
}) {
  const key = name === undefined ? null : <span class="json-key">{shownText(name)}: </span>;
  if (typeof value === 'string') {
    return (
      <div class="json">
        {key}
        <LongText text={value} isWhole={isWhole} />
      </div>
    );
  }
  if (value === null || typeof value !== 'object') {
    return (
      <div class="json">
        {key}
        <span class={`json-${value === null ? 'null' : typeof value}`}>{String(value)}</span>
      </div>
    );
  }
  return <Branch value={value} name={name} depth={depth} isWhole={isWhole} />;
}

function Branch({
  value,
  name,
  depth,
  isWhole,
}: {
  value: object;
  name: string | undefined;
  depth: number;
  isWhole: boolean;
}) {
  const [count, setCount] = useState(isWhole ? Number.POSITIVE_INFINITY : DEFAULTS.entries);
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  if (entries.length === 0) {
    return (
      <div class="json">
        {name !== undefined && <span class="json-key">{shownText(name)}: </span>}
        <span class="json-null">{isList ? '[]' : '{}'}</span>
      </div>
    );
  }
  return (
    <details class="json" open={isWhole || depth < DEFAULTS.open}>
      <summary>
        {name !== undefined && <span class="json-key">{shownText(name)}: </span>}
        <span class="json-size">{isList ? `[${entries.length}]` : `{${entries.length}}`}</span>
      </summary>
      <div class="json-children">
        {entries.slice(0, count).map(([key, child]) => (
          <JsonView key={key} name={key} value={child} depth={depth + 1} isWhole={isWhole} />
        ))}
        {entries.length > count && (
          <button type="button" class="more" onClick={() => setCount(count + DEFAULTS.entries)}>
            Show more of {entries.length}
          </button>
        )}
      </div>
    </details>
  );
}

/** A text, truncated until the user asks for more. */
export function LongText({ text, isWhole = false }: { text: string; isWhole?: boolean }) {
  const [length, setLength] = useState(isWhole ? text.length : DEFAULTS.characters);
  const left = text.length - length;
  return (
    <>
      <span class="json-string">{shownText(text.slice(0, length))}</span>
      {left > 0 && (
        <button type="button" class="more" onClick={() => setLength(length * 10)}>
          Show more ({left.toLocaleString('en')} characters left)
        </button>
      )}
    </>
  );
}
