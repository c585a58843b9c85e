import { useId, useMemo, useRef, useState } from 'preact/hooks';
import { shownText } from '../../format.ts';
import { Button } from '../button.tsx';
import { fieldsOf } from './fields-of.ts';
import { FormField } from './form-field.tsx';
import { type Drafts, firstDrafts, type ReadForm, readForm, readJson } from './read-form.ts';
import './schema-form.css';

/** Arguments by JSON Schema: a field for each property, or all as JSON. */
export function SchemaForm({
  schema,
  submit,
  isBusy,
  onSubmit,
}: {
  schema: unknown;
  /** Label of the button. */
  submit: string;
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
        <Button needs="run" type="submit" kind="primary" icon="play" disabled={isBusy}>
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
