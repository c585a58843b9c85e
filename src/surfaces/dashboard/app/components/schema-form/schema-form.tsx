import { type Schema, Validator } from '@cfworker/json-schema';
import { useId, useMemo, useRef, useState } from 'preact/hooks';
import type { Right } from '../../../shared/api-types.ts';
import { shownLine, shownText } from '../../format.ts';
import type { IconName } from '../badge.tsx';
import { Button } from '../button.tsx';
import { type Field, type FieldKind, fieldsOf } from './fields-of.ts';
import './schema-form.css';

/** Arguments by JSON Schema: a field for each property, or all as JSON. */
export function SchemaForm({
  schema,
  submit,
  needs = 'run',
  icon = 'play',
  isBusy,
  onSubmit,
}: {
  schema: unknown;
  /** Label of the button. */
  submit: string;
  needs?: Right;
  icon?: IconName;
  isBusy: boolean;
  onSubmit: (values: ReadForm['values']) => void;
}) {
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  const fields = useMemo(() => fieldsOf(schema), [schema]);
  const [drafts, setDrafts] = useState<Drafts>(() => firstDrafts(fields ?? []));
  const [json, setJson] = useState<string | null>(fields ? null : '{}');
  const [problems, setProblems] = useState<ReadForm['problems']>({});
  const isJson = json !== null;

  const read = () => (json === null ? readForm(schema, fields ?? [], drafts) : readJson(schema, json));
  const send = () => {
    const { values, problems: found } = read();
    setProblems(found);
    if (Object.keys(found).length === 0) onSubmit(values);
    else setTimeout(() => form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus());
  };
  const switchMode = () => {
    const { values } = read();
    setProblems({});
    if (isJson) setDrafts(firstDrafts(fields ?? [], values));
    setJson(isJson ? null : JSON.stringify(values, null, 2));
  };

  return (
    <form
      ref={form}
      class="form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {isJson ? (
        <div class="form-field">
          <label for={`${id}-json`}>Arguments as JSON</label>
          <textarea
            id={`${id}-json`}
            rows={Math.min(16, Math.max(4, json.split('\n').length))}
            spellcheck={false}
            aria-invalid={Object.keys(problems).length > 0}
            aria-describedby={`${id}-problems`}
            value={json}
            onInput={(event) => setJson(event.currentTarget.value)}
          />
        </div>
      ) : (
        fields?.map((field) => (
          <FormField
            key={field.name}
            field={field}
            draft={drafts[field.name]}
            problem={problems[field.name]}
            onChange={(draft) => setDrafts((before) => ({ ...before, [field.name]: draft }))}
          />
        ))
      )}
      {!isJson && fields?.length === 0 && <p class="muted">No arguments needed.</p>}
      <p id={`${id}-problems`} class="form-problem" role="alert">
        {Object.entries(problems)
          .filter(([name]) => isJson || name === '')
          .map(([name, problem]) => shownText(name ? `${name}: ${problem}` : problem))
          .join(' ')}
      </p>
      <div class="form-actions">
        <Button needs={needs} type="submit" kind="primary" icon={icon} disabled={isBusy}>
          {submit}
        </Button>
        {fields && fields.length > 0 && (
          <Button kind="quiet" onClick={switchMode}>
            {isJson ? 'Edit as a form' : 'Edit as JSON'}
          </Button>
        )}
      </div>
    </form>
  );
}

const DEFAULTS = {
  /** Characters of a name and of a description. */
  name: 80,
  description: 600,
};

/** One argument with its name, description and error. */
function FormField({
  field,
  draft,
  problem,
  onChange,
}: {
  field: Field;
  draft: Draft | undefined;
  problem: string | undefined;
  onChange: (draft: Draft) => void;
}) {
  const id = useId();
  const { kind, isRequired, description, type } = field;
  const name = shownLine(field.name, DEFAULTS.name);
  const described = {
    'aria-invalid': problem !== undefined,
    'aria-describedby': `${id}-about`,
    'aria-required': isRequired,
  };
  const label = (
    <>
      <span class="mono">{name}</span>
      <span class="form-type">{type}</span>
      {isRequired && <span class="form-required">required</span>}
    </>
  );
  const about = (
    <p id={`${id}-about`} class="form-about">
      {problem && <span class="form-problem">{shownText(problem)} </span>}
      {shownLine(description, DEFAULTS.description)}
    </p>
  );
  if (kind === 'boolean') {
    const { 'aria-required': _, ...tick } = described;
    return (
      <div class="form-field">
        <label class="form-tick">
          <input
            type="checkbox"
            {...tick}
            checked={draft === true}
            onInput={(event) => onChange(event.currentTarget.checked)}
          />
          {label}
        </label>
        {about}
      </div>
    );
  }
  if (kind === 'list') {
    return (
      <fieldset class="form-field">
        <legend>{label}</legend>
        <ListEntries
          field={field}
          name={name}
          entries={Array.isArray(draft) ? draft : []}
          onChange={onChange}
        />
        {about}
      </fieldset>
    );
  }
  return (
    <div class="form-field">
      <label for={id}>{label}</label>
      <TextInput
        {...described}
        id={id}
        kind={kind}
        choices={field.choices}
        text={typeof draft === 'string' ? draft : ''}
        onChange={onChange}
      />
      {about}
    </div>
  );
}

function ListEntries({
  field: { entries: kind = 'text', choices },
  name,
  entries,
  onChange,
}: {
  field: Field;
  name: string;
  entries: readonly string[];
  onChange: (entries: readonly string[]) => void;
}) {
  return (
    <div class="form-list">
      {entries.map((entry, i) => (
        <div key={i} class="form-entry">
          <TextInput
            aria-label={`${name} ${i + 1}`}
            kind={kind}
            choices={choices}
            text={entry}
            onChange={(text) => onChange(entries.with(i, text))}
          />
          <Button
            kind="quiet"
            icon="cross"
            aria-label={`Remove ${name} ${i + 1}`}
            onClick={() => onChange(entries.toSpliced(i, 1))}
          />
        </div>
      ))}
      <Button onClick={() => onChange([...entries, ''])}>
        Add {entries.length === 0 ? 'one' : 'another'}
      </Button>
    </div>
  );
}

function TextInput({
  kind,
  choices,
  text,
  onChange,
  ...rest
}: {
  kind: FieldKind;
  choices: readonly unknown[];
  text: string;
  onChange: (text: string) => void;
  id?: string;
  'aria-label'?: string;
  'aria-invalid'?: boolean;
  'aria-describedby'?: string;
  'aria-required'?: boolean;
}) {
  if (kind === 'choice') {
    return (
      <select {...rest} value={text} onInput={(event) => onChange(event.currentTarget.value)}>
        <option value="">–</option>
        {choices.map((choice) => (
          <option key={JSON.stringify(choice)} value={JSON.stringify(choice)}>
            {shownLine(typeof choice === 'string' ? choice : JSON.stringify(choice), DEFAULTS.name)}
          </option>
        ))}
      </select>
    );
  }
  if (kind === 'long' || kind === 'json') {
    return (
      <textarea
        {...rest}
        rows={kind === 'json' ? 4 : 2}
        spellcheck={false}
        placeholder={kind === 'json' ? '{ }' : ''}
        value={text}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    );
  }
  const isNumber = kind === 'number' || kind === 'integer';
  return (
    <input
      {...rest}
      type="text"
      inputMode={kind === 'integer' ? 'numeric' : isNumber ? 'decimal' : 'text'}
      autocomplete="off"
      spellcheck={false}
      value={text}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  );
}

/** The content of a field: typed text, a tick, or the entries of a list. Absent if never touched. */
export type Draft = string | boolean | readonly string[];
export type Drafts = Readonly<Record<string, Draft | undefined>>;

export interface ReadForm {
  readonly values: Readonly<Record<string, unknown>>;
  /** By field name; problems of the whole form are under the empty name. */
  readonly problems: Readonly<Record<string, string>>;
}

const NOTHING = Symbol('nothing');

/** The form's values as arguments, validated against the schema. Empty optional fields are left out. */
export function readForm(schema: unknown, fields: readonly Field[], drafts: Drafts): ReadForm {
  const values: Record<string, unknown> = {};
  const problems: Record<string, string> = {};
  for (const field of fields) {
    try {
      const value = readField(field, drafts[field.name]);
      if (value !== NOTHING) values[field.name] = value;
      else if (field.isRequired) problems[field.name] = 'This is required.';
    } catch (error) {
      problems[field.name] = (error as Error).message;
    }
  }
  return { values, problems: Object.keys(problems).length > 0 ? problems : problemsOf(schema, values) };
}

/** Arguments written as JSON. */
export function readJson(schema: unknown, text: string): ReadForm {
  try {
    const values: unknown = JSON.parse(text.trim() || '{}');
    if (typeof values !== 'object' || values === null || Array.isArray(values))
      throw new Error('Arguments must be an object, such as {"path": "notes.md"}.');
    return { values: values as ReadForm['values'], problems: problemsOf(schema, values) };
  } catch (error) {
    return { values: {}, problems: { '': (error as Error).message } };
  }
}

/** Initial content of the fields. */
export function firstDrafts(
  fields: readonly Field[],
  values: Readonly<Record<string, unknown>> = {},
): Drafts {
  return Object.fromEntries(
    fields.flatMap(({ name, kind, initial }) => {
      const value = values[name] ?? initial;
      return value === undefined ? [] : [[name, draftOf(kind, value)]];
    }),
  );
}

function draftOf(kind: FieldKind, value: unknown): Draft {
  if (kind === 'boolean') return value === true;
  if (kind === 'list' && Array.isArray(value)) return value.map((entry) => String(entry));
  if (kind === 'choice' || kind === 'json') return JSON.stringify(value, null, kind === 'json' ? 2 : 0);
  return String(value);
}

function readField({ kind, entries = 'text', isRequired }: Field, draft: Draft | undefined): unknown {
  if (kind === 'boolean') return draft ?? (isRequired ? false : NOTHING);
  if (kind === 'list') {
    const given = Array.isArray(draft) ? (draft as readonly string[]) : [];
    const filled = given.filter((entry) => entry !== '');
    if (filled.length === 0 && !(isRequired && Array.isArray(draft))) return NOTHING;
    return filled.map((entry) => readText(entries, entry));
  }
  const text = typeof draft === 'string' ? draft : '';
  return text === '' ? NOTHING : readText(kind, text);
}

function readText(kind: FieldKind, text: string): unknown {
  if (kind === 'text' || kind === 'long') return text;
  if (kind === 'choice') return JSON.parse(text);
  if (kind === 'json') {
    try {
      return JSON.parse(text);
    } catch {
      throw new Error('This is not valid JSON: put texts in double quotes.');
    }
  }
  const value = Number(text);
  if (!Number.isFinite(value)) throw new Error('This is not a number.');
  if (kind === 'integer' && !Number.isInteger(value)) throw new Error('Enter a whole number.');
  return value;
}

/** The deepest error of each field. An unusable schema rejects nothing: the gateway validates again. */
function problemsOf(schema: unknown, values: unknown): Record<string, string> {
  try {
    const copy = structuredClone(schema) as Schema;
    const { valid, errors } = new Validator(copy, '2020-12', false).validate(values);
    if (valid) return {};
    const told = errors.filter(({ keyword }) => keyword !== 'properties' && keyword !== 'items');
    // The validator takes a property with a wrong value for one that is not declared, as well.
    const real = told.filter(({ keyword }) => keyword !== 'additionalProperties' && keyword !== 'false');
    const byField = (real.length > 0 ? real : told).map(
      ({ instanceLocation, error }) => [instanceLocation.split('/')[1] ?? '', error] as const,
    );
    return Object.fromEntries(byField.length > 0 ? byField : [['', 'This does not fit the schema.']]);
  } catch {
    return {};
  }
}
