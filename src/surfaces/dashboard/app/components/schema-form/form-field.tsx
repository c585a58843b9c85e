import { useId } from 'preact/hooks';
import { shownLine, shownText } from '../../format.ts';
import { Button } from '../button.tsx';
import type { Field, FieldKind } from './fields-of.ts';
import type { Draft } from './read-form.ts';

const DEFAULTS = {
  /** Characters of a name and of a description. */
  name: 80,
  description: 600,
};

/** One argument with its name, description and error. */
export function FormField({
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
