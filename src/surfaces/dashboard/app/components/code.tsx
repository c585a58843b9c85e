import * as json from 'sugar-high/lang/json';
import * as typescript from 'sugar-high/lang/typescript';
import './schema-table.css';
import { useMemo, useState } from 'preact/hooks';
import { type ParsedLine, parse } from 'sugar-high/core';
import { shownLine, shownText } from '../format.ts';
import { CopyButton } from './button.tsx';
import { fieldsOf } from './schema-form/fields-of.ts';

const DEFAULTS = {
  /** Lines shown before "Show more". */
  lines: 400,
  /** Characters beyond which there is no syntax colouring: parsing would block the page. */
  coloured: 60_000,
};

const LANGUAGES = { typescript, json };

/** A program or data with syntax colours; always rendered as text. */
export function Code({
  text,
  language = 'typescript',
  label = 'Code',
  numbers = false,
}: {
  text: string;
  language?: keyof typeof LANGUAGES | 'text';
  label?: string;
  numbers?: boolean;
}) {
  const [isWhole, setWhole] = useState(false);
  const lines = useMemo(() => linesOf(text, language), [text, language]);
  const shown = isWhole ? lines : lines.slice(0, DEFAULTS.lines);
  return (
    <div class="code">
      <CopyButton text={text} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section class="code-scroll" tabIndex={0} aria-label={label}>
        <pre class={numbers ? 'numbered' : undefined}>
          {shown.map((line, i) => (
            <code key={i} class="code-line">
              {line}
              {'\n'}
            </code>
          ))}
        </pre>
      </section>
      {shown.length < lines.length && (
        <button type="button" class="more" onClick={() => setWhole(true)}>
          Show {lines.length - shown.length} more lines
        </button>
      )}
    </div>
  );
}

function linesOf(text: string, language: keyof typeof LANGUAGES | 'text') {
  const safe = shownText(text);
  if (language === 'text' || safe.length > DEFAULTS.coloured) return safe.split('\n');
  return parse(safe, LANGUAGES[language]).lines.map(coloured);
}

function coloured({ tokens }: ParsedLine) {
  return tokens.map(({ type, value }, i) => (
    <span key={i} class={`code-${type}`}>
      {value}
    </span>
  ));
}

/** A schema's properties as a table, if it has any; the schema itself on request. */
export function SchemaTable({ schema, nothing }: { schema: unknown; nothing: string }) {
  const fields = fieldsOf(schema);
  const isEmpty = schema === null || schema === undefined || Object.keys(schema).length === 0;
  if (isEmpty || fields?.length === 0) return <p class="muted">{nothing}</p>;
  return (
    <div class="schema">
      {fields && (
        <dl class="facts">
          {fields.map(({ name, type, isRequired, description, choices }) => (
            <div key={name} class="facts-row">
              <dt class="mono">{shownLine(name, 60)}</dt>
              <dd>
                {type}
                {isRequired && <span class="form-required"> required</span>}
                {choices.length > 0 && (
                  <span class="cell-note mono">{shownLine(choices.map(String).join(' | '), 200)}</span>
                )}
                {description && <span class="cell-note muted">{shownLine(description, 300)}</span>}
              </dd>
            </div>
          ))}
        </dl>
      )}
      {!fields && <p>{shownLine(typeOf(schema), 60)}</p>}
      <details>
        <summary>JSON Schema</summary>
        <Code text={JSON.stringify(schema, null, 2)} language="json" label="JSON Schema" />
      </details>
    </div>
  );
}

function typeOf(schema: unknown): string {
  const { type, anyOf } = schema as { type?: unknown; anyOf?: unknown };
  if (Array.isArray(type)) return type.join(' or ');
  if (typeof type === 'string') return type;
  return Array.isArray(anyOf) ? anyOf.map(typeOf).join(' or ') : 'anything';
}
