import { createTar } from 'nanotar';
import { useId, useState } from 'preact/hooks';
import type { Capability, SkillFolder } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { ApiError, getJson, postJson } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Menu } from '../../components/menu.tsx';
import { tellingOutcome, toast } from '../../components/toast.tsx';
import { shownLine, shownText } from '../../format.ts';
import { withoutLoads } from '../../resource.ts';
import { navigate } from '../../router.ts';
import { refusal } from '../../who.ts';

type Asked = 'rename' | 'quarantine' | 'forget';

/** Actions on a capability besides running it. */
export function CapabilityActions({
  of,
  onChange,
}: {
  of: Capability;
  onChange: (next: Capability) => void;
}) {
  const [asked, setAsked] = useState<Asked | null>(null);
  const close = () => setAsked(null);
  const name = shownLine(of.slug, 60);
  const at = (action: string) => `/capabilities/${encodeURIComponent(of.slug)}/${action}`;

  const rename = (to: string) =>
    unlessWrong(async () => {
      const renamed = await postJson<Capability>(at('rename'), { to });
      close();
      toast(`Renamed to ${renamed.slug}`);
      navigate(href.capability(renamed.slug), { replace: true });
    });
  const quarantine = (reason: string) =>
    unlessWrong(async () => {
      const next = await postJson<Capability>(at('quarantine'), { reason });
      close();
      toast(`${name} is quarantined`);
      onChange(next);
    });
  const release = async () => {
    const next = await tellingOutcome(
      postJson<Capability>(at('quarantine'), { lift: true }),
      `${name} may be called again`,
    );
    if (next) onChange(next);
  };
  const forget = () =>
    withoutLoads(async () => {
      if (!(await tellingOutcome(postJson(at('forget')), `Deleted ${name}`))) return;
      close();
      navigate(href.capabilities(), { replace: true });
    });

  return (
    <>
      {of.state === 'quarantined' ? (
        <Button needs="manage" icon="check" onClick={() => void release()}>
          Release
        </Button>
      ) : (
        <Button needs="manage" icon="hand" onClick={() => setAsked('quarantine')}>
          Quarantine
        </Button>
      )}
      <Button
        icon="download"
        onClick={() => void tellingOutcome(exportSkill(of.slug), 'Exported as an Agent Skill')}
      >
        Export
      </Button>
      {!refusal('manage') && (
        <Menu
          label="More"
          items={[
            { title: 'Rename…', onSelect: () => setAsked('rename') },
            { title: 'Delete…', isDangerous: true, onSelect: () => setAsked('forget') },
          ]}
        />
      )}
      {asked === 'rename' && (
        <AskText
          title={`Rename ${name}`}
          label="New name"
          hint="Lower-case letters, digits and _, starting with a letter. The old name keeps working."
          initial={of.slug}
          submit="Rename"
          onClose={close}
          onSubmit={rename}
        />
      )}
      {asked === 'quarantine' && (
        <AskText
          title={`Quarantine ${name}`}
          label="Reason"
          hint="It will not be called or suggested until somebody releases it."
          initial=""
          submit="Quarantine"
          onClose={close}
          onSubmit={quarantine}
        />
      )}
      {asked === 'forget' && (
        <Dialog
          title={`Delete ${name}?`}
          onClose={close}
          actions={
            <>
              <Button onClick={close}>Keep it</Button>
              <Button kind="danger" onClick={() => void forget()}>
                Delete it
              </Button>
            </>
          }
        >
          <p>It can no longer be called. The runs it was learned from are kept, so PML may learn it again.</p>
        </Dialog>
      )}
    </>
  );
}

/** Runs `work`; returns the error message, if any. */
async function unlessWrong(work: () => Promise<void>): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (thrown) {
    const { message, hint } = ApiError.from(thrown);
    return hint ? `${message}. ${hint}` : message;
  }
}

/** Saves an Agent Skill's folder as one archive; `pml capability import` accepts it once unpacked. */
async function exportSkill(slug: string): Promise<void> {
  const { folder, files } = await getJson<SkillFolder>(`/capabilities/${encodeURIComponent(slug)}/export`);
  const archive = createTar(
    Object.entries(files).map(([name, data]) => ({ name: `${folder}/${name}`, data })),
  );
  const address = URL.createObjectURL(new Blob([archive as BlobPart], { type: 'application/x-tar' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = `${folder}.tar`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** A dialog that asks for one line of text. */
function AskText({
  title,
  label,
  hint,
  initial,
  submit,
  onClose,
  onSubmit,
}: {
  title: string;
  label: string;
  hint: string;
  initial: string;
  submit: string;
  onClose: () => void;
  /** Returns an error message, if any. */
  onSubmit: (text: string) => Promise<string | undefined>;
}) {
  const id = useId();
  const [text, setText] = useState(initial);
  const [problem, setProblem] = useState<string>();
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={id} kind="primary" disabled={text.trim() === ''}>
            {submit}
          </Button>
        </>
      }
    >
      <form
        id={id}
        class="form-field"
        onSubmit={(event) => {
          event.preventDefault();
          void onSubmit(text.trim()).then(setProblem);
        }}
      >
        <label for={`${id}-text`}>{label}</label>
        <input
          id={`${id}-text`}
          type="text"
          autocomplete="off"
          spellcheck={false}
          aria-describedby={`${id}-hint`}
          aria-invalid={problem !== undefined}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <p class="form-problem" role="alert">
          {problem && shownText(problem)}
        </p>
        <p id={`${id}-hint`} class="form-about">
          {hint}
        </p>
      </form>
    </Dialog>
  );
}
