import { shownLine } from '../format.ts';
import { Code } from './code.tsx';
import { fieldsOf } from './schema-form/fields-of.ts';
import './schema-table.css';

/** What a schema says, by property where it has some; the schema itself on request. */
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
